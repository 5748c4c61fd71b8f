"""A gate: the mean error of Holt and Winters' forecast, one step ahead, on the known half of a series or on the hidden one."""

import json
import math
import random
import sys

part = sys.argv[1]
asked = json.load(sys.stdin)


def series(goal):
    """240 days: a slope, a week, a slow swing and noise. Each goal has its own."""
    draw = random.Random(goal)
    period, slope, noise, values = draw.choice([5, 7, 9, 12]), draw.uniform(-0.05, 0.05), 0.0, []
    shape = [draw.uniform(-3, 3) for _ in range(period)]
    for day in range(240):
        noise = 0.6 * noise + draw.gauss(0, 0.7)
        values.append(20 + slope * day + shape[day % period] + 2 * math.sin(day / 31) + noise)
    return values


def forecast_error(values, level, trend, season, period, judged):
    at, rise, around, errors = values[0], 0.0, [0.0] * period, []
    for day, value in enumerate(values):
        errors.append(abs(value - (at + rise + around[day % period])))
        before = at
        at = level * (value - around[day % period]) + (1 - level) * (at + rise)
        rise = trend * (at - before) + (1 - trend) * rise
        around[day % period] = season * (value - at) + (1 - season) * around[day % period]
    return sum(errors[judged]) / len(errors[judged])


values = series(asked["goal"])
days = slice(30, 120) if part == "known" else slice(120, 240)
plain = sum(abs(values[day] - values[day - 1]) for day in range(days.start, days.stop)) / (days.stop - days.start)
error = forecast_error(values, judged=days, **asked["proposal"]["payload"])
print(json.dumps({"passed": error < plain, "figure": round(error, 4), "threshold": round(plain, 4)}))
