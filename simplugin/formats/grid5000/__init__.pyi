from .catalogue import shipped_catalogue as shipped_catalogue
