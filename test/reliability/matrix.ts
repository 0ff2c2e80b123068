import { afterAll, beforeAll, expect, test } from 'vitest';
import type { OpenAudit } from '../../src/app/open-audit.js';
import { documentedTable, documentTable, tableOf } from './documented-table.js';
import { ALL_FAULTS, FAULTS, stopsProcess } from './faults.js';
import { type Cell, runStep } from './run-step.js';
import type { Step } from './steps.js';
import { World } from './world.js';

/**
 * Declares the tests of one table of docs/reliability.md: one installation takes each of the steps with
 * each fault. `UPDATE_RELIABILITY=1` writes what was observed into the table.
 * @param heading of the table
 * @param settings variables of the installation
 */
export function testMatrix(
  heading: string,
  steps: readonly Step[],
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
    cells.push(...(await runStep(world, audit, step)));
  });

  test('does what docs/reliability.md says', () => {
    const rows = steps.map((step) => [
      step.title,
      step.write,
      ...cells.filter((cell) => cell.step === step).map((cell) => outcome(cell)),
    ]);
    const table = tableOf(['Step', 'Write', ...ALL_FAULTS.map((fault) => FAULTS[fault])], rows);
    if (process.env.UPDATE_RELIABILITY === '1') documentTable(heading, table);
    expect(documentedTable(heading)).toBe(table);
  });
}

function outcome({ step, fault, attempts }: Cell): string {
  if (step.at === 'command') return attempts === 1 ? 'the command succeeds' : 'the command succeeds when repeated';
  if (attempts > 1) return 'the caller repeats the request and gets the first result';
  return stopsProcess(fault) ? 'the next process continues' : 'the process continues by itself';
}
