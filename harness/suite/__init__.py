"""The suite file: what may stand in it, where a mistake stands, and what its entries choose."""
