"""Tests of proof trees: what the verifier derives holds, and trees say what is true."""
