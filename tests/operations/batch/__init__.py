"""Tests of batches on a Dask cluster.

dask_cluster.py  a cluster of this machine, as a program
"""
