from .assembly import page_text as page_text
from .assembly import write_page as write_page
from .contents import CampaignReport as CampaignReport
from .contents import Column as Column
from .contents import KeptRun as KeptRun
