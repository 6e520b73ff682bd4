"""The peer of dask_ratio: as many trivial tasks through dask.distributed with two worker processes, as its users write it. It prints the seconds."""

import sys
import time

from distributed import Client, LocalCluster


def trivial(x):
    return {"done": 1}


def run(client, n):
    futures = client.map(trivial, range(n), pure=False)
    return sum(one["done"] for one in client.gather(futures))


if __name__ == "__main__":
    n = int(sys.argv[1])
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster, Client(cluster) as client:
        run(client, 200)  # so that the workers are warm
        began = time.perf_counter()
        if run(client, n) != n:
            sys.exit("the sum is wrong")
        print(time.perf_counter() - began)
