"""How an outsider starts things: the command line and the guarded web server."""
