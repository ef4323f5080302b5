"""Tests of what is shipped beside the package: manifests, image, plugin, action, workflow."""
