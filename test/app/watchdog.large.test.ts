import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';

const WATCHDOG = new URL('../../dist/watchdog.js', import.meta.url).href;
const LIMITS = { tickMs: 50, silentMs: 1_000, hungMs: 1_000, startMs: 60_000 };

/** A process with a watchdog, which then does something. */
async function run(then: string): Promise<{ signal: NodeJS.Signals | null; stderr: string }> {
  const program = `import { startWatchdog } from ${JSON.stringify(WATCHDOG)};
    startWatchdog({ error: console.error }, ${JSON.stringify(LIMITS)});
    ${then}`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: 60_000,
    killSignal: 'SIGTERM',
  });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString('utf8');
  });
  await once(child, 'close');
  return { signal: child.signalCode, stderr };
}

test('ends a process whose event loop is blocked, and says why', async () => {
  const { signal, stderr } = await run('setTimeout(() => { for (;;); }, 500);');
  expect(signal).toBe('SIGKILL');
  expect(stderr).toContain('the event loop does not turn');
});

test('leaves a process alone that works, and does not keep it from its end', async () => {
  const { signal, stderr } = await run('setTimeout(() => undefined, 2_000);');
  expect({ signal, stderr }).toEqual({ signal: null, stderr: '' });
});
