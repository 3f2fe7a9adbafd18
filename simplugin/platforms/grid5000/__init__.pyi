from .platform import grid5000_platform as grid5000_platform
from .selection import selected as selected
