from .facts import selected as selected
from .platform import grid5000_platform as grid5000_platform
