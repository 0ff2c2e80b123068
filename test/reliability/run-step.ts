import type { OpenAudit } from '../../src/app/open-audit.js';
import { type Fault, stopsProcess } from './faults.js';
import { expectNothingLost, settled } from './invariants.js';
import type { Step } from './steps.js';
import type { World } from './world.js';

/** Observations in one cell of the matrix. */
export interface Cell {
  readonly step: Step;
  readonly fault: Fault;
  /** How often the caller, or the operator, had to ask. */
  readonly attempts: number;
}

/**
 * Takes a step once with each of some faults. After each the installation must settle by itself, once what died
 * is replaced, and afterwards nothing may be lost.
 */
export async function runStep(world: World, audit: OpenAudit, step: Step, faults: readonly Fault[]): Promise<Cell[]> {
  const cells: Cell[] = [];
  for (const fault of faults) {
    const struck = arm(world, step, fault);
    const provoked = step.provoke(world);
    await Promise.race([struck, provoked.then(() => struck)]);
    if (stopsProcess(fault) && step.at !== 'command') await world.replace(step.at === 'api' ? 'api' : 'worker');
    let isOver = false;
    const asked = provoked.finally(() => {
      isOver = true;
    });
    await step.wait?.(world, () => isOver);
    const { attempts } = await asked;
    for (const role of step.restarts ?? []) await world.replace(role);
    await settled(world.superuser);
    cells.push({ step, fault, attempts });
  }
  await expectNothingLost(world.superuser, audit, world.recorded, step.title);
  return cells;
}

/** Resolves when the fault has hit. */
function arm(world: World, { at, isMeant }: Step, fault: Fault): Promise<void> {
  if (at === 'command') return world.armCommand(fault, isMeant);
  if (at === 'authority') return world.authority.arm(fault, () => world.of('worker').front.die());
  return world.of(at).front.arm(fault, isMeant);
}
