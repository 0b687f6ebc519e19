"""`tejat web`: the web page on this machine."""
