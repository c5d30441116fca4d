"""Several tenants beside each other: their shares, and what they do together beside what each does alone."""

from dataclasses import dataclass

from loads import loads, rates

SHARE_TOLERANCE = 0.01
TOTAL_WANTED = 0.99


@dataclass
class Beside:
    """One window of tenants beside each other."""

    weights: tuple
    by_books: list  # shares of the device time that the daemon has charged
    by_rounds: list  # shares of the work done, each program's in units of what it does alone
    total: float  # work of all over that of one alone

    def wanted(self):
        return [weight / sum(self.weights) for weight in self.weights]

    def is_exact(self):
        return all(abs(got - wanted) <= SHARE_TOLERANCE for got, wanted in zip(self.by_books, self.wanted()))

    def min_max_ratio(self):
        per_weight = [share / weight for share, weight in zip(self.by_rounds, self.weights)]
        return min(per_weight) / max(per_weight)


def parts(values):
    return [value / sum(values) for value in values]


def beside_each_other(machine, clock, programs, weightings, seconds, direct=False, tables="", bare=None):
    """A Beside for each of `weightings`. `programs` has the command of each tenant by name. Bare runs and tenants are
    set up at once; the bare ones are measured before and after."""
    bare = bare or machine.bare
    with machine.daemon(tables) as daemon:
        commands = {f"bare {name}": bare(command) for name, command in programs.items()}
        for name, command in programs.items():
            commands[name] = daemon.tenant(command, name=name, direct=direct)
        try:
            with loads(machine, clock, commands) as started:
                return measure(daemon, clock, [started[name] for name in programs],
                               [started[f"bare {name}"] for name in programs], weightings, seconds)
        except Exception as error:
            error.daemon_log = daemon.log()
            raise


def measure(daemon, clock, tenants, alone, weightings, seconds):
    def alone_rates():
        return [rates([load], seconds / 2, clock)[0] for load in alone]

    before = alone_rates()
    windows = []
    for weights in weightings:
        for load, weight in zip(tenants, weights):
            daemon.set_weight(load.name, weight)
        looks = []
        together = rates(tenants, seconds, clock, lambda _: looks.append(daemon.device_time()))
        windows.append((weights, together, [looks[1][load.name] - looks[0][load.name] for load in tenants]))
    by_itself = [(first + second) / 2 for first, second in zip(before, alone_rates())]
    for load in [*tenants, *alone]:
        load.end()
    found = []
    for weights, together, charged in windows:
        work = [rate / reference for rate, reference in zip(together, by_itself)]
        found.append(Beside(weights, parts(charged), parts(work), sum(work)))
    return found


def shares_line(windows, judged):
    """All windows in one line. Only windows of some length are judged."""
    texts = []
    for window in windows:
        ratio = ":".join(str(weight) for weight in window.weights)
        shown = ["/".join(f"{share:.3f}" for share in shares) for shares in (window.by_books, window.by_rounds)]
        texts.append(f"{ratio} gave {shown[0]} by the books, {shown[1]} by work, total {window.total:.3f} of bare")
    line = "; ".join(texts)
    if not judged:
        return f"{line} (short windows)"
    kept = all(window.is_exact() and window.total >= TOTAL_WANTED for window in windows)
    return f"{line}; wanted within {SHARE_TOLERANCE:.0%} and >= {TOTAL_WANTED}: {'kept' if kept else 'MISSED'}"
