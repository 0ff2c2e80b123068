import { afterAll, beforeAll, expect, test } from 'vitest';
import type { OpenAudit } from '../../src/app/open-audit.js';
import { cellsOf, documentedTable, documentTable, tableOf } from './documented-table.js';
import { ALL_FAULTS, FAULTS, type Fault, stopsProcess } from './faults.js';
import { type Cell, runStep } from './run-step.js';
import type { Step } from './steps.js';
import { World } from './world.js';

/**
 * Declares the tests of one table of docs/reliability.md: one installation takes each of the steps with
 * each fault. `UPDATE_RELIABILITY=1 npm run test:exhaustive` writes what was
 * observed into the table.
 * @param heading of the table
 * @param faultsOf chooses the faults of a step that this run tries
 * @param settings variables of the installation
 */
export function testMatrix(
  heading: string,
  steps: readonly Step[],
  faultsOf: (step: Step) => readonly Fault[],
  settings: Readonly<Record<string, string>> = {},
): void {
  let world: World;
  let audit: OpenAudit;
  const cells: Cell[] = [];
  beforeAll(async () => {
    world = await World.open(settings);
    audit = await world.openAudit();
  });
  afterAll(async () => {
    await audit?.close();
    await world?.close();
  });

  test.each(steps)('loses nothing when a fault hits: $title', async (step) => {
    cells.push(...(await runStep(world, audit, step, faultsOf(step))));
  });

  test('does what docs/reliability.md says', () => {
    const documented = documentedTable(heading);
    const said = cellsOf(documented);
    const rows = steps.map((step, row) => [
      step.title,
      step.write,
      ...ALL_FAULTS.map((fault, column) => {
        const cell = cells.find((one) => one.step === step && one.fault === fault);
        // A run that did not try this fault says nothing about it.
        return cell === undefined ? (said[row]?.[column + 2] ?? '') : outcome(cell);
      }),
    ]);
    const table = tableOf(['Step', 'Write', ...ALL_FAULTS.map((fault) => FAULTS[fault])], rows);
    if (process.env.UPDATE_RELIABILITY === '1') documentTable(heading, table);
    expect(documented).toBe(table);
  });
}

function outcome({ step, fault, attempts }: Cell): string {
  if (step.at === 'command') return attempts === 1 ? 'the command succeeds' : 'the command succeeds when repeated';
  if (attempts > 1) return 'the caller repeats the request and gets the first result';
  return stopsProcess(fault) ? 'the next process continues' : 'the process continues by itself';
}
