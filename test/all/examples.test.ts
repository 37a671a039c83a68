/**
 * `examples/dump_critic_traces.py` in a Python with numpy: the calls that it names for three trainers are run with stand-ins for what
 * those trainers have there, and the dumps that they write must give the numbers that went in.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { isLeftOut } from '../../src/ingest/dumps/contract.js'
import { openDump } from '../../src/ingest/dumps/formats.js'
import { sampleKeys } from '../../src/schema/sample-keys.js'
import type { Sample } from '../../src/schema/samples.js'
import { runPython, WITHOUT_NUMPY } from '../support/python.js'
import { root } from '../support/paths.js'
import { likeCheckout, runShell } from '../support/shell.js'

const EXAMPLE = join(root, 'examples/dump_critic_traces.py')
const SKIP = { skip: WITHOUT_NUMPY }

/** Every number is a multiple of 1/64 below 2, which bfloat16 holds exactly. Masked values and returns are not 0. */
const VALUES = [
  [0.25, 0.5, 0.75, 1.5, 0.015625],
  [1, 0.5, 0.25, 0.125, 0.0625]
]
const RETURNS = [
  [1, 1, 1, 1, 1],
  [0, 0.25, 0.25, 0.5, 0.5]
]
const MASK = [
  [1, 1, 0, 1, 0],
  [1, 0, 0, 0, 0]
]
/** The first trajectory has a score of 1, the second one of -0.5; with the penalty the sums are -0.5 and 0.25. */
const SCORES = [
  [0, 0, 0, 1, 0],
  [0, 0, -0.5, 0, 0]
]
const PENALTY = [
  [0.5, 0.5, 0, 0.5, 0],
  [-0.75, 0, 0, 0, 0]
]

/** What the lines of the docstring meet in a trainer. A tensor refuses what torch refuses: numpy of bfloat16, or of another device. */
const DRIVER = `
import re, sys, textwrap
from types import SimpleNamespace
import numpy as np
sys.path.insert(0, ${JSON.stringify(join(root, 'examples'))})
import dump_critic_traces as example
from dump_critic_traces import dump_critic_traces

class Tensor:
    def __init__(self, data, dtype="torch.float32", device="cuda", grad=True):
        self.data, self.dtype, self.device, self.grad = np.asarray(data), dtype, device, grad
    def detach(self):
        return Tensor(self.data, self.dtype, self.device, False)
    def cpu(self):
        return Tensor(self.data, self.dtype, "cpu", self.grad)
    def float(self):
        return Tensor(self.data.astype(np.float32), "torch.float32", self.device, self.grad)
    def numpy(self):
        if self.grad or self.device != "cpu" or self.dtype == "torch.bfloat16":
            raise TypeError(f"numpy of {self.dtype} on {self.device}, grad {self.grad}")
        return self.data
    def __invert__(self):
        return Tensor(~self.data, self.dtype, self.device, self.grad)

class TensorDict:
    def __init__(self, **tensors): self.tensors = tensors
    def keys(self): return self.tensors.keys()
    def __getitem__(self, key): return self.tensors[key]

values, returns, mask = (np.array(x) for x in ${JSON.stringify([VALUES, RETURNS, MASK])})
values = Tensor(values, "torch.bfloat16")
returns = Tensor(returns.astype(np.float32))
attention = Tensor([[0, 1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 0, 0]], "torch.int64")
rewards = Tensor(np.array([1, 0], np.float16), "torch.float16")

def lines(trainer):
    text = example.__doc__[example.__doc__.index("\\n" + trainer):]
    end = re.search(r"\\n(?=\\S)", text[1:])
    block = text[1:] if end is None else text[1 : end.start() + 1]
    return textwrap.dedent(" " * len(trainer) + block[len(trainer):])

def verl():
    batch = TensorDict(values=values, returns=returns, response_mask=Tensor(mask, "torch.int64"), attention_mask=attention, step=rewards, prompts=attention)
    data = SimpleNamespace(batch=batch, non_tensor_batch={"uid": np.array(["p0", "p0"], dtype=object), "score": np.array([1.0, 0.0]), "folder": np.array(["a", "b"])})
    return dict(self=SimpleNamespace(global_steps=7), data=data)

def penalised():
    # verl with use_kl_in_reward, and a reward that gives no "score": the penalty turns the sign of every sum.
    scores = np.array(${JSON.stringify(SCORES)})
    batch = TensorDict(values=values, returns=returns, response_mask=Tensor(mask, "torch.int64"), attention_mask=attention,
                       token_level_scores=Tensor(scores), token_level_rewards=Tensor(scores - np.array(${JSON.stringify(PENALTY)})))
    return dict(self=SimpleNamespace(global_steps=7), data=SimpleNamespace(batch=batch, non_tensor_batch={}))

def openrlhf():
    action = Tensor(mask.astype(bool), "torch.bool")
    part = lambda i: SimpleNamespace(**{name: Tensor(x.data[i : i + 1], x.dtype) for name, x in dict(values=values, returns=returns, action_mask=action, rewards=rewards).items()})
    return dict(global_step=7, experiences=[part(0), part(1)])

def trl():
    return dict(values=values, returns=returns, padding_mask=Tensor(~mask.astype(bool), "torch.bool"), scores=rewards,
                self=SimpleNamespace(state=SimpleNamespace(global_step=7)), accelerator=SimpleNamespace(process_index=0))

for trainer, folder, scope in (("verl", "verl", verl), ("verl", "penalised", penalised), ("OpenRLHF", "OpenRLHF", openrlhf), ("TRL", "TRL", trl)):
    code = lines(trainer).replace('"traces"', repr(folder))
    assert "dump_critic_traces(" in code, code
    exec(code, {"dump_critic_traces": dump_critic_traces, **scope()})
dump_critic_traces("none", 3, values=None, returns=[[1.0]], advantages=[[0.5]], response_mask=[[True]], other=[1])
`

async function samplesOf(folder: string): Promise<Sample[]> {
  const names = readdirSync(folder).sort()
  const dump = await openDump(folder, names, { keys: sampleKeys(), skipBad: false })
  const samples: Sample[] = []
  for await (const item of dump.samples(['values', 'returns', 'advantages'])) {
    if (isLeftOut(item)) throw new Error(item.reason)
    samples.push(item)
  }
  await dump.close()
  return samples
}

/** The numbers at mask 1 and their indexes: what a trace is made of. */
function retained({ mask, arrays }: Sample): unknown {
  const at = [...mask.keys()].filter(i => mask[i] === 1)
  return { at, values: at.map(i => arrays.values?.[i]), returns: at.map(i => arrays.returns?.[i]) }
}

t.test('at most 30 lines, and numpy is all that it imports from elsewhere', async t => {
  const text = readFileSync(EXAMPLE, 'utf8')
  t.ok(text.split('\n').length - 1 <= 30)
  t.same(
    text.match(/^\s*(?:import|from) .*$/gm)?.map(line => line.trim()),
    ['import os', 'import numpy as np']
  )
})

t.test('the calls for verl, OpenRLHF and TRL write dumps that hold what the trainer had', SKIP, async t => {
  const dir = t.testdir({ 'driver.py': DRIVER })
  const { code, stderr } = runPython(['driver.py'], dir)
  t.same([code, stderr], [0, ''])
  const expected = MASK.map((mask, row) => {
    const at = [...mask.keys()].filter(i => mask[i] === 1)
    return { at, values: at.map(i => VALUES[row][i]), returns: at.map(i => RETURNS[row][i]) }
  })
  for (const trainer of ['verl', 'OpenRLHF', 'TRL']) {
    const samples = await samplesOf(join(dir, trainer))
    t.same(samples.map(retained), expected, trainer)
    t.same(
      samples.map(({ fields: { step, score } }) => [step, score]),
      [
        [7, 1],
        [7, 0]
      ],
      trainer
    )
  }
  t.same(readdirSync(join(dir, 'verl')), ['step_7.npz'], 'nothing half written stays')
  t.same(readdirSync(join(dir, 'OpenRLHF')), ['step_7_0000.npz', 'step_7_0001.npz'])
  t.same(readdirSync(join(dir, 'TRL')), ['step_7_0000.npz'])
  const [first, second] = await samplesOf(join(dir, 'verl'))
  t.same([first.fields.uid, second.fields.uid], ['p0', 'p0'])
  // The attention mask has two columns for the prompt, and ends two columns before the block of responses does.
  t.same([first.mask.length, second.mask.length], [5, 3])
  const [only] = await samplesOf(join(dir, 'none'))
  t.same([only.fields.step, only.arrays.values, only.arrays.returns?.[0], only.arrays.advantages?.[0]], [3, undefined, 1, 0.5])
})

t.test('verl with a divergence penalty in its rewards: the outcome is that of the scores', SKIP, async t => {
  const dir = t.testdir({ 'driver.py': DRIVER })
  t.equal(runPython(['driver.py'], dir).code, 0)
  const samples = await samplesOf(join(dir, 'penalised'))
  t.same(
    samples.map(({ fields }) => fields.score),
    [1, -0.5]
  )
  likeCheckout(dir)
  const { code, stdout } = await runShell('node dist/run.js traces penalised --no-figures --json --quiet', dir)
  t.equal(code, 0)
  const { snapshots } = JSON.parse(stdout) as { readonly snapshots: readonly [{ readonly statistics: Readonly<Record<string, unknown>> }] }
  t.match(snapshots[0].statistics, { outcome_from: { outcome: 0, score: 2, unknown: 0 }, success: { traces: 1 }, failure: { traces: 1 } })
  const rows = readFileSync(join(dir, 'artifacts/penalised/training_data/critic-trace-trajectories.csv'), 'utf8').split('\r\n')
  t.same(
    rows.slice(1, 3).map(row => row.split(',').slice(0, 5)),
    [
      ['1', '7', 'failure', '', '-0.5'],
      ['0', '7', 'success', '', '1']
    ]
  )
})
