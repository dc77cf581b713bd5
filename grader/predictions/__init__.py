"""Read and check prediction files, also in foreign formats."""
