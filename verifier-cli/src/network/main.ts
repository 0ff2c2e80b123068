import { Command, CommanderError } from 'commander';
import { EXIT_USAGE } from '../cli/exit-codes.js';
import { collect } from '../cli/options.js';
import { UsageError } from '../cli/usage-error.js';
import { printable } from '../rendering/printable.js';
import { runWatch, type WatchCommandOptions } from './watch/watch-command.js';
import { runWitness, type WitnessCommandOptions } from './witness/witness-command.js';

const program = new Command('consent-verify')
  .description('Run a witness that cosigns ledgers, or watch a ledger. Both commands use the network.')
  .exitOverride()
  .showHelpAfterError();

const stopping = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stopping.abort());

program
  .command('witness')
  .description('run a witness (C2SP tlog-witness) that cosigns the checkpoints of ledgers')
  .option('--listen <address>', 'listen on this host and port, for example 127.0.0.1:8081')
  .requiredOption('--key-file <file>', 'private key of the witness')
  .option('--new-key <name>', 'create the key file, for a witness of this name, for example witness.example.org/w1')
  .option(
    '--state <folder>',
    'folder that keeps the newest size and root of each ledger; only one process may use it at a time',
  )
  .option(
    '--ledger-key <key>',
    'verifier key of a ledger to cosign, or a file that contains it; may be repeated',
    collect,
  )
  .option(
    '--structure <location>',
    'URL of the service or static host, or a folder, whose structure the witness audits before each cosignature; the name of its key must end in /structure',
  )
  .option(
    '--token-file <file>',
    'file with the bearer token, needed if the operator shows the structure to auditors only',
  )
  .addHelpText('after', '\nExit codes: 0 stopped, or key created; 2 usage error.')
  .action(async (options: WitnessCommandOptions) => {
    const out = (text: string) => process.stdout.write(text);
    await runWitness(options, { out, log: (text) => process.stderr.write(text) }, stopping.signal);
  });

program
  .command('watch')
  .description('watch the public checkpoints of a service, and report if its ledger contradicts itself')
  .argument(
    '<url>',
    'URL of the service; with --structure, also the URL of a static host, or a folder of exported files',
  )
  .option('--ledger-key <key>', 'verifier key of the ledger, or a file that contains it; may be repeated', collect)
  .option(
    '--trust <file>',
    'trust policy (C2SP tlog-policy) that contains the keys of the ledger; replaces --ledger-key',
  )
  .requiredOption('--state <folder>', 'folder that keeps the newest checkpoint seen, and contradiction proofs')
  .option('--interval <duration>', 'how long to wait between two looks; at least 1s', '60s')
  .option('--max-age <duration>', 'report the ledger as stale if its newest checkpoint is older than this', '24h')
  .option('--webhook <url>', 'send each new alarm to this URL (POST, JSON)')
  .option('--structure', 'recompute the runs, tags and roll-ups of every batch from the published structure')
  .option(
    '--token-file <file>',
    'file with the bearer token, needed if the operator shows the structure to auditors only',
  )
  .option('--once', 'look once, then exit')
  .addHelpText(
    'after',
    '\nExit codes: 0 nothing wrong; 1 the ledger contradicts itself (the proof is in the state folder) or breaks a rule in a way that cannot be proved; 2 usage error; 3 undecided, stale or unreachable.',
  )
  .action(async (url: string, options: WatchCommandOptions) => {
    process.exitCode = await runWatch(url, options, (text) => process.stdout.write(text), stopping.signal);
  });

try {
  await program.parseAsync(process.argv);
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : EXIT_USAGE;
  } else if (error instanceof UsageError) {
    process.stderr.write(`consent-verify: ${printable(error.message)}\n`);
    process.exitCode = EXIT_USAGE;
  } else {
    throw error;
  }
}
