"""What is trained and how: for each name the options of `weft compile`, and what another program is told."""

STEPS = 6
LOSSES = {
    "cross_entropy": ["--loss", "cross_entropy", "--logits", "logits", "--labels", "labels"],
    "mse": ["--loss", "mse", "--logits", "logits", "--labels", "targets"],
    "bce": ["--loss", "bce", "--logits", "logits", "--labels", "targets"],
}


class Configuration:
    """`optimizer` is a class of torch.optim with its arguments, or "lamb", which optax has."""

    def __init__(self, options, optimizer, arguments, loss="cross_entropy", schedule=None, clip=None, no_decay=(), dtype="f32", scale=None,
                 parameters=("up.weight", "up.bias", "down.weight")):
        self.options = options.split() + LOSSES[loss]
        self.optimizer, self.arguments, self.loss = optimizer, arguments, loss
        self.schedule, self.clip, self.no_decay, self.dtype, self.scale, self.parameters = schedule, clip, no_decay, dtype, scale, parameters


ADAMW = "--train adamw --lr 0.02 --betas 0.9,0.95 --eps 1e-5 --weight-decay 0.1"
OF_ADAMW = {"lr": 0.02, "betas": (0.9, 0.95), "eps": 1e-5, "weight_decay": 0.1}
ADAM = {"lr": 0.02, "betas": (0.8, 0.9), "eps": 1e-6}

CONFIGURATIONS = {
    "sgd": Configuration("--train sgd --lr 0.1", "SGD", {"lr": 0.1}),
    "sgd_decay": Configuration("--train sgd --lr 0.1 --weight-decay 0.2", "SGD", {"lr": 0.1, "weight_decay": 0.2}),
    "momentum": Configuration("--train sgd --lr 0.1 --momentum 0.9", "SGD", {"lr": 0.1, "momentum": 0.9}),
    "nesterov": Configuration("--train sgd --lr 0.1 --momentum 0.9 --nesterov --weight-decay 0.1", "SGD",
                              {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1}),
    "adam": Configuration("--train adam --lr 0.02 --betas 0.8,0.9 --eps 1e-6", "Adam", ADAM),
    "adam_decay": Configuration("--train adam --lr 0.02 --betas 0.8,0.9 --eps 1e-6 --weight-decay 0.3", "Adam", ADAM | {"weight_decay": 0.3}),
    "adam_defaults": Configuration("--train adam", "Adam", {}),
    "adamw": Configuration(ADAMW, "AdamW", OF_ADAMW),
    "adamw_defaults": Configuration("--train adamw", "AdamW", {}),
    "adafactor": Configuration("--train adafactor --lr 0.05", "Adafactor", {"lr": 0.05}),
    "adafactor_decay": Configuration("--train adafactor --weight-decay 0.1", "Adafactor", {"weight_decay": 0.1}),
    "lamb": Configuration("--train lamb --lr 0.02 --weight-decay 0.1", "lamb", {"learning_rate": 0.02, "weight_decay": 0.1}),
    "lamb_plain": Configuration("--train lamb --lr 0.02 --betas 0.8,0.9 --eps 1e-4", "lamb", {"learning_rate": 0.02, "b1": 0.8, "b2": 0.9, "eps": 1e-4}),
    "mse": Configuration("--train sgd --lr 0.1", "SGD", {"lr": 0.1}, loss="mse"),
    "bce": Configuration("--train sgd --lr 0.1", "SGD", {"lr": 0.1}, loss="bce"),
    "warmup": Configuration(ADAMW + " --warmup 4", "AdamW", OF_ADAMW, schedule=("constant", 4, 0)),
    "linear": Configuration(ADAMW + " --schedule linear --warmup 2 --total-steps 5", "AdamW", OF_ADAMW, schedule=("linear", 2, 5)),
    "cosine": Configuration(ADAMW + " --schedule cosine --warmup 1 --total-steps 9", "AdamW", OF_ADAMW, schedule=("cosine", 1, 9)),
    "clip": Configuration("--train sgd --lr 0.1 --momentum 0.9 --clip-norm 0.3", "SGD", {"lr": 0.1, "momentum": 0.9}, clip=0.3),
    "no_decay": Configuration(ADAMW + r" --no-decay bias|^down", "AdamW", OF_ADAMW, no_decay=("up.bias", "down.weight")),
    "scale": Configuration(ADAMW + " --loss-scale 1024", "AdamW", OF_ADAMW),
    "scale_clip": Configuration(ADAMW + " --loss-scale dynamic --clip-norm 0.3", "AdamW", OF_ADAMW, clip=0.3),
    "some": Configuration(ADAMW + " --parameters ^up", "AdamW", OF_ADAMW, parameters=("up.weight", "up.bias")),
    "bf16": Configuration(ADAMW, "AdamW", OF_ADAMW, dtype="bf16"),
    "f16": Configuration(ADAMW + " --loss-scale 1024", "AdamW", OF_ADAMW, dtype="f16", scale=1024.0),
}
