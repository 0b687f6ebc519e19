"""Git repositories of a batch: mirrors, working copies, patches, bundles and branches."""
