import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bundleCommand } from './bundled-command.js';

test('the command ends quietly when its output is closed, with an exit code that is no verdict', () => {
  const command = bundleCommand();
  try {
    const program = join(command.folder, 'consent-verify.mjs');
    const script = '{ "$0" "$1" explain; echo "$?" >&2; } | true';
    const { stderr } = spawnSync('sh', ['-c', script, process.execPath, program], { encoding: 'utf8' });
    expect(stderr).toBe('141\n');
  } finally {
    command.remove();
  }
});
