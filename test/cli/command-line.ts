import { PassThrough } from 'node:stream';
import { expect } from 'vitest';
import { runCli } from '../../src/cli/run.js';
import type { RunningApp } from '../api/server/running-app.js';

export interface CommandResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Whether it let other processes go first. */
  readonly isLowPriority: boolean;
}

/** Runs commands beside a running service, on its installation. */
export interface CommandLine {
  run(args: readonly string[], env?: Record<string, string>): Promise<CommandResult>;
  /**
   * Runs with `--json`. It expects success, one line on standard output, and only log lines on
   * standard error.
   */
  json(...args: string[]): Promise<unknown>;
}

export function commandLine(app: RunningApp): CommandLine {
  const run: CommandLine['run'] = async (args, env = {}) => {
    const { config, databaseUrl } = app.service.installation;
    const streams = { stdout: new PassThrough(), stderr: new PassThrough() };
    const texts = { stdout: '', stderr: '' };
    let isLowPriority = false;
    streams.stdout.on('data', (chunk) => {
      texts.stdout += String(chunk);
    });
    streams.stderr.on('data', (chunk) => {
      texts.stderr += String(chunk);
    });
    const exitCode = await runCli(args, {
      env: { DATABASE_URL: databaseUrl, DATA_DIR: config.dataDir, ...env },
      ...streams,
      lowerPriority: () => {
        isLowPriority = true;
      },
    });
    return { exitCode, ...texts, isLowPriority };
  };
  return {
    run,
    json: async (...args) => {
      const { exitCode, stdout, stderr } = await run([...args, '--json']);
      expect({ exitCode, stderr: stderr.replaceAll(/[^\n]*\[[^\n]*\n?/g, '') }, args.join(' ')).toEqual({
        exitCode: 0,
        stderr: '',
      });
      expect(stdout.endsWith('\n')).toBe(true);
      return JSON.parse(stdout);
    },
  };
}
