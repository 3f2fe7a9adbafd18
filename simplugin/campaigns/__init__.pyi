from .campaign import Campaign as Campaign
from .campaign import load_campaign as load_campaign
from .running.campaign_runs import run_campaign as run_campaign
from .store.reading import results as results
