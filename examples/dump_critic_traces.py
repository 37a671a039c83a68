"""Saves what a critic predicted, for `critic-traces traces FOLDER`. Needs numpy alone. Call it once a step, when the advantages are
computed and before the critic is updated. The line for three trainers, as of August 2026:

verl      # PPOTrainer._compute_advantage, after compute_advantage_for_multi_trajectories (older: RayPPOTrainer.fit, with batch for data)
          dump_critic_traces("traces", self.global_steps, **{**data.batch, **data.non_tensor_batch})
OpenRLHF  for i, e in enumerate(experiences):  # BasePPOTrainer.train_step, after make_experience_batch
              dump_critic_traces("traces", global_step, i, values=e.values, returns=e.returns, response_mask=e.action_mask, score=e.rewards)
TRL       mask = ~padding_mask  # PPOTrainer.train, after `returns = advantages + values`
          dump_critic_traces("traces", self.state.global_step, accelerator.process_index, values=values, returns=returns, response_mask=mask,
                             score=scores)
"""
import os
import numpy as np

KEPT = set("values returns advantages token_level_scores token_level_rewards response_mask attention_mask kl score uid outcome".split())

def as_numpy(x):
    if hasattr(x, "detach"):  # a torch tensor
        x = x.detach().cpu()
        x = (x.float() if "bfloat16" in str(x.dtype) else x).numpy()  # numpy has no bfloat16
    x = np.asarray(x)
    return x.astype(str) if x.dtype == object else x

def dump_critic_traces(folder, step, part=None, /, **arrays):
    """Writes FOLDER/step_STEP.npz: [B, T] values, returns, response_mask, and what else of KEPT there is; a file for each part."""
    name = f"step_{step}.npz" if part is None else f"step_{step}_{part:04}.npz"
    kept = {key: as_numpy(x) for key, x in arrays.items() if key in KEPT and x is not None}
    os.makedirs(folder, exist_ok=True)
    np.savez(f"{folder}/.{name}", step=step, **kept)
    os.replace(f"{folder}/.{name}", f"{folder}/{name}")
