"""The part of Harbor 0.25 that `tejat.integrations.harbor` uses. Harbor needs Python 3.12 and is no dependency."""
