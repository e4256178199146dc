"""Trains the support model on the processor's cores, in pieces if need be.

Run: python tests/benchmarks/training/pool.py pool.pickle
     python tests/benchmarks/training/train.py pool.pickle OUT --minutes 60 [--from FILE] [--without-in-domain]
     python tests/benchmarks/training/adapters.py OUT/last.pt proctor/knowledge/models/support_model.npz

Of correctness alone, which goes on from what ships and makes a file that is merged behind it:
     python tests/benchmarks/training/train.py pool.pickle OUT --correctness --minutes 66 --workers 1 --from SUPPORT.npz
     python tests/benchmarks/training/adapters.py OUT/last.pt CORRECTNESS.npz --onto SUPPORT.npz

Products are in bfloat16, twice as fast where the processor has instructions for it (52 rows of 80 tokens a second on
two cores); weights and sums have 32 bits. Each worker has a core, batches and Adam moments of its own; the weights are
shared without locks (Hogwild), so two trainings of the same seeds agree in their figures but not in every digit. With
``--workers 1`` they do, where ``--steps`` ends them in place of the clock. The learning rate falls to 0 towards the
end. A training that goes on ``--from`` a checkpoint warms up again.
"""

import argparse
import json
import pickle
import random
import time
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from network import load, packaged_network
from pool import CONFIG, SUPPORT, fingerprints
from torch import multiprocessing
from torch.nn import functional


@dataclass(frozen=True)
class Plan:
    """How long, and where to."""

    out: str
    seconds: float
    steps: int
    without: tuple[str, ...] = ()

    def done(self, began, step):
        return step / self.steps if self.steps else (time.time() - began) / self.seconds


def batches(pool, weights, rng):
    """Batches of rows of about equal length, drawn from the sources by their weights, each row of one once a round."""
    queues, names = {}, list(weights)
    while True:
        rows = []
        for source in rng.choices(names, list(weights.values()), k=CONFIG["rows_a_draw"]):
            if not queues.get(source):
                queues[source] = rng.sample(range(len(pool[source])), len(pool[source]))
            rows.append((source, pool[source][queues[source].pop()]))
        rows.sort(key=lambda row: len(row[1][2]))
        made, current = [], []
        for row in rows:
            if current and (len(current) + 1) * len(row[1][2]) > CONFIG["tokens_a_batch"]:
                made.append(current)
                current = []
            current.append(row)
        made.append(current)
        rng.shuffle(made)
        yield from made


def loss_of(network, batch):
    """Mean cross-entropy; where only ``not supported`` is known, of the two classes together. And each row's."""
    rows = [row for _, row in batch]
    width = max(len(row[2]) for row in rows)
    ids = torch.zeros(len(rows), width, dtype=torch.long)
    kinds, real = torch.zeros_like(ids), torch.zeros(len(rows), width, dtype=torch.bool)
    for place, row in enumerate(rows):
        ids[place, : len(row[2])] = torch.tensor(row[2])
        kinds[place, : len(row[2])] = torch.tensor(row[3])
        real[place, : len(row[2])] = True
    labels = torch.tensor([row[1] for row in rows])
    with torch.autocast("cpu", torch.bfloat16):
        support, correct = network(ids, kinds, real)
    support, correct = support.float(), correct.float()
    said = functional.log_softmax(support, 1)
    said = torch.cat([said, torch.logsumexp(said[:, 1:], 1, keepdim=True)], 1)
    each = torch.where(
        torch.tensor([row[0] == SUPPORT for row in rows]),
        -said.gather(1, labels[:, None])[:, 0],
        functional.cross_entropy(correct, labels.clamp(max=1), reduction="none"),
    )
    return each.mean(), each.tolist()


def work(rank, network, pool, plan):
    torch.set_num_threads(1)
    heads = [value for name, value in network.named_parameters() if name.startswith(("support", "correct", "kind"))]
    known = {id(value) for value in heads}
    body = [value for value in network.parameters() if value.requires_grad and id(value) not in known]
    groups = [{"params": body, "times": 1.0}, {"params": heads, "times": CONFIG["heads_times"]}]
    adam = torch.optim.AdamW(
        groups, lr=0.0, weight_decay=CONFIG["weight_decay"], betas=tuple(CONFIG["betas"]), fused=True
    )
    weights = {name: weight for name, weight in CONFIG["weights"].items() if name not in plan.without}
    began = said = kept = time.time()
    losses, used = {}, Counter()
    for step, batch in enumerate(batches(pool, weights, random.Random(CONFIG["seed"] + rank))):
        left = 1 - plan.done(began, step)
        if left <= 0:
            break
        rate = min(1.0, (step + 1) / CONFIG["warmup_steps"]) * min(1.0, left / (1 - CONFIG["falls_from"]))
        for group in adam.param_groups:
            group["lr"] = CONFIG["learning_rate"] * group["times"] * rate
        loss, each = loss_of(network, batch)
        loss.backward()
        torch.nn.utils.clip_grad_norm_([value for value in network.parameters() if value.requires_grad], CONFIG["clip"])
        adam.step()
        adam.zero_grad()
        for (source, _), one in zip(batch, each, strict=True):
            losses.setdefault(source, []).append(one)
            used[source] += 1
        if time.time() - said > 90:
            means = " ".join(f"{source} {sum(some) / len(some):.2f}" for source, some in sorted(losses.items()))
            print(f"{rank} {time.strftime('%H:%M:%S')} step {step} rows {used.total()} {means}", flush=True)
            losses, said = {}, time.time()
        if rank == 0 and time.time() - kept > 240:
            save(network, plan)
            kept = time.time()
    Path(plan.out, f"rows-{rank}.json").write_text(json.dumps(used), encoding="utf-8")


def save(network, plan):
    beside = Path(plan.out, "next.pt")
    torch.save({"net": network.state_dict()}, beside)
    beside.replace(Path(plan.out, "last.pt"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pool", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--steps", type=int, default=0, help="of each worker, in place of minutes")
    parser.add_argument("--workers", type=int, default=CONFIG["workers"])
    parser.add_argument("--from", dest="first", type=Path, help="checkpoint or adapters to go on from")
    parser.add_argument(
        "--without-in-domain", action="store_true", help="leave out what shares a source with a dev set"
    )
    parser.add_argument("--correctness", action="store_true", help="train for correctness alone")
    given = parser.parse_args()
    if given.correctness:
        CONFIG.update(CONFIG["correctness"])
    given.out.mkdir(parents=True, exist_ok=True)
    without = tuple(CONFIG["in_domain"]) if given.without_in_domain else ()
    plan = Plan(str(given.out), given.minutes * 60, given.steps, without)
    pool = pickle.loads(given.pool.read_bytes())  # noqa: S301 - made by pool.py
    network = load(given.first) if given.first else packaged_network()
    network.share_memory()
    (given.out / "plan.json").write_text(json.dumps({**asdict(plan), "data": fingerprints()}, indent=2))
    fork = multiprocessing.get_context("fork")
    workers = [fork.Process(target=work, args=(rank, network, pool, plan)) for rank in range(given.workers)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    save(network, plan)


if __name__ == "__main__":
    main()
