import { Command, CommanderError } from 'commander';
import { type CheckOptions, runCheck } from './cli/check-command.js';
import { endWhenOutputCloses } from './cli/closed-output.js';
import { type CompareOptions, runCompare } from './cli/compare-command.js';
import { type ContradictionOptions, runCheckContradiction } from './cli/contradiction-command.js';
import { EXIT_USAGE } from './cli/exit-codes.js';
import { type ExplainOptions, runExplain } from './cli/explain-command.js';
import { type ListOptions, runList } from './cli/list-command.js';
import { spreadLists } from './cli/option-lists.js';
import { collect } from './cli/options.js';
import { type PromiseOptions, runPromise } from './cli/promise-command.js';
import { runShow, type ShowOptions } from './cli/show-command.js';
import { runTimestamp, type TimestampOptions } from './cli/timestamp-command.js';
import { UsageError } from './cli/usage-error.js';
import { printable } from './rendering/printable.js';
import { VERSION } from './version.js';

const program = new Command('consent-verify')
  .description('Verify Consent Ledger evidence offline, without network or access to the service.')
  .version(VERSION, '--version', 'print the version of the verifier')
  .exitOverride()
  .showHelpAfterError()
  .addHelpText(
    'after',
    '\nTwo more commands use the network; see consent-verify witness --help and consent-verify watch --help.\nIn a clone of the repository, run it as npx consent-verify or node verifier-cli/bin/consent-verify.js.',
  );

const warn = (text: string) => process.stderr.write(`consent-verify: warning: ${printable(text)}\n`);

/** Adds a command that verifies a package. */
function verifyingCommand(name: string): Command {
  return program
    .command(name)
    .option(
      '--trust <file>',
      'one file with everything that you trust: a trust policy (C2SP tlog-policy) and root certificates (PEM); replaces --ledger-key, --witness-key and --witnesses',
    )
    .option(
      '--tsa-ca <file>',
      'root certificate (PEM or DER) of a time stamp authority that you trust; may be repeated',
      collect,
    )
    .option('--ledger-key <file>', 'public key of the ledger, as its operator publishes it; may be repeated', collect)
    .option('--witness-key <key>', 'verifier key of a witness, or a file that contains it; may be repeated', collect)
    .option(
      '--witnesses <n>',
      'how many of these witnesses must have cosigned the newest checkpoint; default: as many as the policy of the ledger requires',
    )
    .option(
      '--max-delay <duration>',
      'longest time allowed between the claimed time of a record and its time stamp, for example 30m; default: what the policy of the ledger allows, which this option can only shorten',
    )
    .option(
      '--max-age <duration>',
      'oldest that the newest time stamp may be, both when the package was made and when it is verified; default: 24h when the package was made, and no limit when it is verified',
    )
    .option('--require-stamps <n>', 'how many different time stamp authorities must have stamped every record', '1')
    .option('--at <time>', 'verify as of this time, for example 2040-01-31T12:00:00Z; default: now')
    .option('--language <language>', 'language of the report: en or tr', 'en');
}

/**
 * Adds a command that verifies a package and outputs a report or a record.
 * @param shown the object that the command prints and writes as a page
 */
function packageCommand(name: string, shown: 'report' | 'record'): Command {
  return verifyingCommand(name)
    .option('--json', 'print one JSON object instead of text')
    .option('--html <file>', `also write the ${shown} as an HTML page`);
}

packageCommand('check', 'report')
  .description('verify an evidence package, or a contradiction proof, and print the verdict')
  .argument('<file>', 'evidence package (ZIP) or contradiction proof (JSON)')
  .option(
    '--verbose',
    'also print keys in full, the amount of work that the verification took, and the checks that do not apply',
  )
  .option('--person <value>', 'visitor id of the person that the package or receipt must be about')
  .option('--promise <file>', 'promise by the service to check against the package; may be repeated', collect)
  .option('--contradiction <file>', 'write the proof that a promise was broken to this file, which must not exist')
  .addHelpText(
    'after',
    '\nExit codes: 0 valid, or contradiction proved; 1 invalid, or not proved; 2 usage error, or the file is neither a package nor a proof; 3 indeterminate.',
  )
  .action(async (path: string, options: CheckOptions) => {
    process.exitCode = await runCheck(path, options, {
      out: (text) => process.stdout.write(text),
      progress: process.stderr,
      warn,
    });
  });

program
  .command('promise')
  .description('verify the promise that the service returned for a consent, and print what it promised')
  .argument(
    '<file>',
    'JSON file: the value of `promise`, the whole response to one consent, or what an SDK returned for it',
  )
  .option('--ledger-key <file>', 'public key of the ledger, as its operator publishes it; may be repeated', collect)
  .option(
    '--trust <file>',
    'trust policy (C2SP tlog-policy) that contains the keys of the ledger; replaces --ledger-key',
  )
  .option('--json', 'print one JSON object instead of text')
  .addHelpText(
    'after',
    '\nExit codes: 0 genuine; 1 not genuine; 2 usage error, or no promise; 3 none of the given keys matches.',
  )
  .action(async (path: string, options: PromiseOptions) => {
    process.exitCode = await runPromise(path, options, (text) => process.stdout.write(text));
  });

packageCommand('show', 'record')
  .description('verify an evidence package or a receipt and print one record with its text and its proof')
  .argument('<package>', 'evidence package (ZIP) or receipt (JSON)')
  .argument('<record>', 'event id, consent token (ct_…) or proof hash of the record')
  .option('--attachments <folder>', 'save the signature picture and document of the person to this folder')
  .option(
    '--certificate <file>',
    'also write a one-page certificate of the consent to this file: HTML, to print on A4 or Letter',
  )
  .option(
    '--format <format>',
    'ts27560 prints a consent record according to ISO/IEC TS 27560:2023 (JSON-LD) instead of text, unless the evidence is invalid',
  )
  .option(
    '--vendor-list <file>',
    'the IAB Europe vendor list whose SHA-256 is in the configuration; needed to check the legitimate-interest bits of a TC string',
  )
  .addHelpText(
    'after',
    '\nExit codes, by the verdict on the record: 0 valid; 1 invalid; 2 usage error, or no such record; 3 indeterminate.',
  )
  .action(async (path: string, record: string, options: ShowOptions) => {
    process.exitCode = await runShow(
      path,
      record,
      options,
      { out: (text) => process.stdout.write(text), progress: process.stderr, warn },
      // The bundle consists of this file alone.
      new URL(import.meta.url),
    );
  });

verifyingCommand('list')
  .description('verify an evidence package and list its consents, each with its own verdict')
  .argument('<package>', 'evidence package (ZIP) or receipt (JSON)')
  .option('--person <value>', 'list only records that disclose this value, such as a visitor id or an e-mail address')
  .option('--csv', 'print CSV (RFC 4180) instead of a table')
  .option('--json', 'print one JSON array instead of a table')
  .addHelpText(
    'after',
    '\nThe records are in the order of the ledger. Exit codes, by the verdict on the package: 0 valid; 1 invalid; 2 usage error; 3 indeterminate.',
  )
  .action(async (path: string, options: ListOptions) => {
    process.exitCode = await runList(path, options, {
      out: (text) => process.stdout.write(text),
      progress: process.stderr,
      warn,
    });
  });

program
  .command('timestamp')
  .description('verify one RFC 3161 time stamp token')
  .argument('<token>', 'time stamp response, or the token alone (DER, BER or PEM)')
  .option('--data <file>', 'file that was stamped')
  .option('--digest <alg:hex>', 'digest of the file that was stamped, for example sha256:9f86…')
  .requiredOption('--tsa-ca <file>', 'root certificate (PEM or DER) that you trust; may be repeated', collect)
  .option('--untrusted <file>', 'intermediate certificates (PEM or DER); may be repeated', collect)
  .option('--crl <file>', 'certificate revocation list (PEM or DER); may be repeated', collect)
  .option('--ocsp <file>', 'OCSP response (DER); may be repeated', collect)
  .option('--at <time>', 'verify as of this time, for example 2040-01-31T12:00:00Z; default: now')
  .option(
    '--policy <oid>',
    'accept only tokens under this policy, for example 1.3.6.1.4.1.4146.2.2; may be repeated; default: any policy',
    collect,
  )
  .option('--nonce <hex>', 'nonce that the request contained, in hexadecimal')
  .option('--revocation <mode>', 'whether to require or ignore revocation information: require or ignore', 'require')
  .option('--json', 'print one JSON object instead of text')
  .addHelpText('after', '\nExit codes: 0 valid; 1 invalid; 2 usage error; 3 indeterminate.')
  .action(async (path: string, options: TimestampOptions) => {
    process.exitCode = await runTimestamp(path, options, {
      out: (text) => process.stdout.write(text),
      warn,
    });
  });

program
  .command('compare')
  .description(
    'compare two packages, receipts or checkpoints of one ledger, and report whether they contradict each other',
  )
  .argument('<a>', 'evidence package (ZIP), receipt (JSON) or checkpoint note')
  .argument('<b>', 'evidence package (ZIP), receipt (JSON) or checkpoint note to compare with')
  .option('--ledger-key <file>', 'public key of the ledger, as its operator publishes it; may be repeated', collect)
  .option(
    '--trust <file>',
    'trust policy (C2SP tlog-policy) that contains the keys of the ledger; replaces --ledger-key',
  )
  .option(
    '--tsa-ca <file>',
    'root certificate that you trust, used to show when each of the two was stamped; may be repeated',
    collect,
  )
  .option(
    '--consistency <file>',
    'consistency proof that the service served under /checkpoints/; may be repeated',
    collect,
  )
  .option('--output <file>', 'write the contradiction proof to this file, which must not exist')
  .option('--json', 'print one JSON object instead of text')
  .addHelpText(
    'after',
    '\nExit codes: 0 the two agree; 1 they contradict each other; 2 usage error; 3 cannot be decided.',
  )
  .action(async (a: string, b: string, options: CompareOptions) => {
    process.exitCode = await runCompare(a, b, options, {
      out: (text) => process.stdout.write(text),
      warn,
    });
  });

program
  .command('check-contradiction')
  .description('verify a contradiction proof that the command compare wrote')
  .argument('<file>', 'contradiction proof')
  .option('--ledger-key <file>', 'public key of the ledger, as its operator publishes it; may be repeated', collect)
  .option(
    '--trust <file>',
    'trust policy (C2SP tlog-policy) that contains the keys of the ledger; replaces --ledger-key',
  )
  .option('--json', 'print one JSON object instead of text')
  .addHelpText(
    'after',
    '\nExit codes: 0 proved; 1 not proved; 2 usage error, or the file does not exist; 3 no key was given.',
  )
  .action(async (path: string, options: ContradictionOptions) => {
    process.exitCode = await runCheckContradiction(path, options, (text) => process.stdout.write(text));
  });

program
  .command('explain')
  .description('explain a check of the report: what it asks, what makes it fail, and what leaves it undecided')
  .argument('[check]', 'id of the check, such as tst.path, or its first part, such as tst; default: all checks')
  .option('--json', 'print one JSON array instead of text')
  .addHelpText('after', '\nSections (§) are those of docs/evidence-format.md. Exit codes: 0 explained; 2 usage error.')
  .action((check: string | undefined, options: ExplainOptions) => {
    process.exitCode = runExplain(check, options, (text) => process.stdout.write(text));
  });

endWhenOutputCloses();
try {
  await program.parseAsync(spreadLists(process.argv.slice(2)), { from: 'user' });
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : EXIT_USAGE;
  } else if (error instanceof UsageError) {
    process.stderr.write(`consent-verify: ${printable(error.message)}\n`);
    process.exitCode = error.exitCode;
  } else {
    throw error;
  }
}
