"""Saves what a critic predicted, for `critic-traces traces FOLDER`. Needs numpy alone. Call it once a step, after the advantages
are computed and before the critic is updated:

verl       batch = compute_advantage(batch, ...)   # in RayPPOTrainer.fit
           dump_critic_traces("traces", self.global_steps, **batch.batch, **batch.non_tensor_batch)
OpenRLHF   for i, e in enumerate(experiences):     # in make_experience_batch, after compute_advantages_and_returns
               dump_critic_traces(f"traces/{i}", step, values=e.values, returns=e.returns, advantages=e.advantages, response_mask=e.action_mask)
TRL        dump_critic_traces("traces", self.state.global_step, values=values, returns=returns, advantages=advantages,
                              response_mask=~padding_mask, score=scores)   # in PPOTrainer.train, after `returns = advantages + values`
"""
import os
import numpy as np

KEPT = {"values", "returns", "advantages", "token_level_rewards", "response_mask", "attention_mask", "kl", "score", "uid", "outcome"}


def as_numpy(x):
    if hasattr(x, "detach"):  # a torch tensor; numpy has no bfloat16
        x = x.detach().cpu()
        x = (x.float() if x.is_floating_point() else x).numpy()
    x = np.asarray(x)
    return x.astype(str) if x.dtype == object else x


def dump_critic_traces(folder, step, **arrays):
    """Writes FOLDER/step_STEP.npz: [B, T] values, returns, response_mask, and whichever of the others in KEPT there are."""
    os.makedirs(folder, exist_ok=True)
    kept = {name: as_numpy(x) for name, x in arrays.items() if name in KEPT and x is not None}
    with open(f"{folder}/step_{step}.npz.part", "wb") as file:
        np.savez(file, step=step, **kept)
    os.replace(file.name, f"{folder}/step_{step}.npz")
