import { Command, CommanderError } from 'commander';
import { EXIT_USAGE } from '../cli/exit-codes.js';
import { collect } from '../cli/options.js';
import { UsageError } from '../cli/usage-error.js';
import { printable } from '../rendering/printable.js';
import { runWatch, type WatchCommandOptions } from './watch/watch-command.js';
import { runWitness, type WitnessCommandOptions } from './witness/witness-command.js';

const program = new Command('consent-verify')
  .description('Run a witness of ledgers, or watch a ledger. These two commands use the network.')
  .exitOverride()
  .showHelpAfterError();

const stopping = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stopping.abort());

program
  .command('witness')
  .description('run a witness (C2SP tlog-witness) that cosigns the checkpoints of ledgers')
  .option('--listen <address>', 'host and port, for example 127.0.0.1:8081')
  .requiredOption('--key-file <file>', 'private key of the witness')
  .option('--new-key <name>', 'create the key file for this name, for example witness.example.org/w1')
  .option('--state <folder>', 'folder for the newest size and root of each ledger; one process at a time')
  .option('--ledger-key <key>', 'verifier key of a ledger to cosign, or a file with it; may be repeated', collect)
  .option(
    '--structure <location>',
    'URL of the service or static host, or folder, whose structure is audited before each cosignature; the name of the key ends in /structure',
  )
  .option('--token-file <file>', 'bearer token, if the operator restricts the structure to auditors')
  .addHelpText('after', '\nExit codes: 0 stopped, or key created; 2 usage error.')
  .action(async (options: WitnessCommandOptions) => {
    const out = (text: string) => process.stdout.write(text);
    await runWitness(options, { out, log: (text) => process.stderr.write(text) }, stopping.signal);
  });

program
  .command('watch')
  .description('watch the public checkpoints of a service, and report when its ledger contradicts itself')
  .argument('<url>', 'URL of the service; with --structure also a static host, or a folder of exported files')
  .option('--ledger-key <key>', "the ledger's verifier key, or a file with it; may be repeated", collect)
  .option('--trust <file>', 'trust policy (C2SP tlog-policy) with the keys of the ledger, in place of --ledger-key')
  .requiredOption('--state <folder>', 'folder for the newest checkpoint that was seen, and for contradiction proofs')
  .option('--interval <duration>', 'time between two looks, at least one second', '60s')
  .option('--max-age <duration>', 'age of the newest checkpoint from which the ledger counts as stale', '24h')
  .option('--webhook <url>', 'URL that receives each new alarm as JSON (POST)')
  .option('--structure', 'recompute the runs, tags and roll-ups of every batch from the published structure')
  .option('--token-file <file>', 'bearer token, if the operator restricts the structure to auditors')
  .option('--once', 'look once, and end')
  .addHelpText(
    'after',
    '\nExit codes: 0 fine; 1 contradiction, with a proof in the state folder, or a violation that cannot be proved; 2 usage error; 3 undecided, stale or unreachable.',
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
