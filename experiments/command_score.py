"""Scores one candidate of command.toml: best is AdamW with a learning rate of 0.005 in batches of 32."""

import json
import math
import sys

candidate = json.load(sys.stdin)
settings = candidate["hyperparameters"]
miss = abs(math.log10(settings["learning_rate"] / 0.005))
miss += {"adamw": 0, "adam": 0.1, "sgd": 0.3}[settings["optimizer"]]
miss += 0 if settings["batch_size"] == 32 else 0.05
print(json.dumps({"validation.accuracy": round(1 / (1 + miss), 6), "validation.loss": round(miss, 6)}))
