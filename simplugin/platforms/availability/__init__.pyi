from .followers import Availability as Availability
from .followers import with_availability as with_availability
from .processes import Levels as Levels
from .processes import Outages as Outages
