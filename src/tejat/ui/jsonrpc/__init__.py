"""JSON-RPC between front ends and sessions, in lines over pipes and sockets."""
