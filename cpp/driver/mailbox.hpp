// Mailboxes and message queues.
#pragma once

#include "types.hpp"

namespace driver {

extern PyTypeObject MailboxType;
extern PyTypeObject MessageQueueType;

bool start_rendezvous(Activity* activity);

} // namespace driver
