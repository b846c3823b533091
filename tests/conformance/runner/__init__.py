"""What tests/conformance/run is made of. One module, one subject; README.md has the language and the protocol."""
