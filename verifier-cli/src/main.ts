import { Command, CommanderError } from 'commander';
import { type CheckOptions, runCheck } from './cli/check-command.js';
import { type CompareOptions, runCompare } from './cli/compare-command.js';
import { type ContradictionOptions, runCheckContradiction } from './cli/contradiction-command.js';
import { EXIT_USAGE } from './cli/exit-codes.js';
import { spreadLists } from './cli/option-lists.js';
import { collect } from './cli/options.js';
import { runShow, type ShowOptions } from './cli/show-command.js';
import { runTimestamp, type TimestampOptions } from './cli/timestamp-command.js';
import { UsageError } from './cli/usage-error.js';
import { printable } from './report/printable.js';

const program = new Command('consent-verify')
  .description('Checks evidence of Consent Ledger, offline: no network, no access to the service.')
  .exitOverride()
  .showHelpAfterError();

program
  .command('check')
  .description(
    'check an evidence package, and print a verdict for each check and for the whole; or a proof that compare wrote',
  )
  .argument('<file>', 'the evidence package (ZIP), or the proof of a contradiction (JSON)')
  .option(
    '--tsa-ca <file>',
    'root certificate of a time-stamp authority that you trust, PEM or DER; may be repeated',
    collect,
  )
  .option('--ledger-key <file>', "the ledger's public key, from its operator; may be repeated", collect)
  .option('--json', 'print one JSON object instead of text')
  .option('--html <file>', 'write the report as one page, to be read in a browser or printed')
  .option('--max-delay <duration>', 'how long after the claimed time a stamp may come', '24h')
  .option('--at <time>', 'time of verification, for instance 2040-01-31T12:00:00Z; now without it')
  .addHelpText(
    'after',
    '\nExit codes: 0 valid (or the contradiction proved), 1 invalid (or not proved), 2 wrong usage or neither of both, 3 indeterminate.',
  )
  .action(async (path: string, options: CheckOptions) => {
    process.exitCode = await runCheck(path, options, {
      out: (text) => process.stdout.write(text),
      progress: process.stderr,
    });
  });

program
  .command('show')
  .description('check an evidence package, and print one record with its text and its proof')
  .argument('<package>', 'the evidence package (ZIP)')
  .argument('<record>', 'its event id, consent token (ct_…) or proof hash')
  .option(
    '--tsa-ca <file>',
    'root certificate of a time-stamp authority that you trust, PEM or DER; may be repeated',
    collect,
  )
  .option('--ledger-key <file>', "the ledger's public key, from its operator; may be repeated", collect)
  .option('--json', 'print one JSON object instead of text')
  .option('--html <file>', 'write the record as one page, to be read in a browser or printed')
  .option('--max-delay <duration>', 'how long after the claimed time a stamp may come', '24h')
  .option('--at <time>', 'time of verification, for instance 2040-01-31T12:00:00Z; now without it')
  .addHelpText(
    'after',
    "\nExit codes, by the record's verdict: 0 valid, 1 invalid, 2 wrong usage or no such record, 3 indeterminate.",
  )
  .action(async (path: string, record: string, options: ShowOptions) => {
    process.exitCode = await runShow(path, record, options, {
      out: (text) => process.stdout.write(text),
      progress: process.stderr,
    });
  });

program
  .command('timestamp')
  .description('check one RFC 3161 time-stamp token')
  .argument('<token>', 'a time-stamp response or a bare token (DER or BER)')
  .option('--data <file>', 'the file that was stamped')
  .option('--digest <alg:hex>', 'or its digest, for instance sha256:9f86…')
  .requiredOption('--tsa-ca <file>', 'root certificate that you trust, PEM or DER; may be repeated', collect)
  .option('--untrusted <file>', 'intermediate certificates, PEM or DER; may be repeated', collect)
  .option('--crl <file>', 'certificate revocation list, PEM or DER; may be repeated', collect)
  .option('--ocsp <file>', 'OCSP answer, DER; may be repeated', collect)
  .option('--at <time>', 'time of verification, for instance 2040-01-31T12:00:00Z; now without it')
  .option('--revocation <mode>', 'require or ignore', 'require')
  .option('--json', 'print one JSON object instead of text')
  .addHelpText('after', '\nExit codes: 0 valid, 1 invalid, 2 wrong usage, 3 indeterminate.')
  .action(async (path: string, options: TimestampOptions) => {
    process.exitCode = await runTimestamp(path, options, (text) => process.stdout.write(text));
  });

program
  .command('compare')
  .description('compare what two packages or checkpoints show of one ledger: one history, or a contradiction')
  .argument('<a>', 'an evidence package (ZIP) or a checkpoint note')
  .argument('<b>', 'another')
  .option('--ledger-key <file>', "the ledger's public key, from its operator; may be repeated", collect)
  .option('--tsa-ca <file>', 'root certificate that you trust, to tell when each side was stamped', collect)
  .option('--consistency <file>', 'consistency proof, as served under /checkpoints/; may be repeated', collect)
  .option('--output <file>', 'where to write the proof of a contradiction; nothing may be there yet')
  .option('--json', 'print one JSON object instead of text')
  .addHelpText('after', '\nExit codes: 0 one history, 1 they contradict each other, 2 wrong usage, 3 cannot tell.')
  .action(async (a: string, b: string, options: CompareOptions) => {
    process.exitCode = await runCompare(a, b, options, (text) => process.stdout.write(text));
  });

program
  .command('check-contradiction')
  .description('check a proof that a ledger contradicts itself, as written by compare')
  .argument('<file>', 'the proof')
  .option('--ledger-key <file>', "the ledger's public key, from its operator; may be repeated", collect)
  .option('--json', 'print one JSON object instead of text')
  .addHelpText('after', '\nExit codes: 0 proved, 1 not proved, 2 wrong usage or no such file, 3 no key was given.')
  .action(async (path: string, options: ContradictionOptions) => {
    process.exitCode = await runCheckContradiction(path, options, (text) => process.stdout.write(text));
  });

try {
  await program.parseAsync(spreadLists(process.argv.slice(2)), { from: 'user' });
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
