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
    '\nTwo more commands use the network: consent-verify witness --help, consent-verify watch --help.\nIn a clone of the repository, call it as npx consent-verify or node verifier-cli/bin/consent-verify.js.',
  );

const warn = (text: string) => process.stderr.write(`consent-verify: warning: ${printable(text)}\n`);

/** Adds a command that verifies a package. */
function verifyingCommand(name: string): Command {
  return program
    .command(name)
    .option(
      '--trust <file>',
      'file with all that you trust: a trust policy (C2SP tlog-policy) and root certificates in PEM; in place of --ledger-key, --witness-key and --witnesses',
    )
    .option(
      '--tsa-ca <file>',
      'root certificate of a time stamp authority that you trust, PEM or DER; may be repeated',
      collect,
    )
    .option('--ledger-key <file>', "the ledger's public key, as published by its operator; may be repeated", collect)
    .option('--witness-key <key>', "a witness's verifier key, or a file with it; may be repeated", collect)
    .option(
      '--witnesses <n>',
      "number of these witnesses that must have cosigned the newest checkpoint; default: that of the ledger's policy",
    )
    .option(
      '--max-delay <duration>',
      'maximum time between the claimed time of a record and its time stamp, for example 30m; default: by the policy of the ledger, which it can only tighten',
    )
    .option(
      '--max-age <duration>',
      'maximum age of the newest time stamp, when the package was made and at the time of verification; default: 24h when the package was made, and no limit now',
    )
    .option('--require-stamps <n>', 'number of distinct time stamp authorities that must cover every record', '1')
    .option('--at <time>', 'time of verification, for example 2040-01-31T12:00:00Z; default: now')
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
    'also print whole keys, the units of work that the verification took, and the checks that do not apply',
  )
  .option('--person <value>', 'visitor id of the person whose records the package or receipt must be of')
  .option('--promise <file>', 'promise of the service, to hold against the package; may be repeated', collect)
  .option('--contradiction <file>', 'file for the proof that a promise was broken; must not exist')
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
  .description('verify the promise in the answer to a consent, and print what was promised')
  .argument(
    '<file>',
    'value of `promise`, the whole answer to one consent, or the acceptance that an SDK returns (JSON)',
  )
  .option('--ledger-key <file>', "the ledger's public key, as published by its operator; may be repeated", collect)
  .option('--trust <file>', 'trust policy (C2SP tlog-policy) with the keys of the ledger, in place of --ledger-key')
  .option('--json', 'print one JSON object instead of text')
  .addHelpText(
    'after',
    '\nExit codes: 0 genuine; 1 not genuine; 2 usage error, or no promise; 3 no matching key given.',
  )
  .action(async (path: string, options: PromiseOptions) => {
    process.exitCode = await runPromise(path, options, (text) => process.stdout.write(text));
  });

packageCommand('show', 'record')
  .description('verify an evidence package or a receipt and print one record with its text and its proof')
  .argument('<package>', 'evidence package (ZIP) or receipt (JSON)')
  .argument('<record>', 'event id, consent token (ct_…) or proof hash of the record')
  .option('--attachments <folder>', 'folder to which the signature picture and the document of the person are saved')
  .option('--certificate <file>', 'also write the consent as one page for print: HTML, for A4 and Letter')
  .option(
    '--format <format>',
    'ts27560: print a consent record of ISO/IEC TS 27560:2023 in JSON-LD instead of text, unless the evidence is invalid',
  )
  .option(
    '--vendor-list <file>',
    'vendor list of IAB Europe whose SHA-256 the configuration states, to compare the bits of legitimate interest of a TC string',
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
  .option(
    '--person <value>',
    'list only the records that disclose this value, such as a visitor id or an e-mail address',
  )
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
  .argument('<token>', 'time stamp response or bare token (DER, BER or PEM)')
  .option('--data <file>', 'stamped file')
  .option('--digest <alg:hex>', 'digest of the stamped file, for example sha256:9f86…')
  .requiredOption('--tsa-ca <file>', 'root certificate that you trust, PEM or DER; may be repeated', collect)
  .option('--untrusted <file>', 'intermediate certificates, PEM or DER; may be repeated', collect)
  .option('--crl <file>', 'certificate revocation list, PEM or DER; may be repeated', collect)
  .option('--ocsp <file>', 'OCSP response, DER; may be repeated', collect)
  .option('--at <time>', 'time of verification, for example 2040-01-31T12:00:00Z; default: now')
  .option(
    '--policy <oid>',
    'policy to accept, for example 1.3.6.1.4.1.4146.2.2; may be repeated; default: any',
    collect,
  )
  .option('--nonce <hex>', 'nonce of the request, in hexadecimal')
  .option('--revocation <mode>', 'require or ignore revocation information', 'require')
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
  .description('compare two packages, receipts or checkpoints of one ledger: one history, or a contradiction')
  .argument('<a>', 'evidence package (ZIP), receipt (JSON) or checkpoint note')
  .argument('<b>', 'evidence package (ZIP), receipt (JSON) or checkpoint note to compare with')
  .option('--ledger-key <file>', "the ledger's public key, as published by its operator; may be repeated", collect)
  .option('--trust <file>', 'trust policy (C2SP tlog-policy) with the keys of the ledger, in place of --ledger-key')
  .option(
    '--tsa-ca <file>',
    'root certificate that you trust, to show when each side was stamped; may be repeated',
    collect,
  )
  .option('--consistency <file>', 'consistency proof, as served under /checkpoints/; may be repeated', collect)
  .option('--output <file>', 'file for the contradiction proof; must not exist')
  .option('--json', 'print one JSON object instead of text')
  .addHelpText('after', '\nExit codes: 0 one history; 1 contradiction; 2 usage error; 3 undecided.')
  .action(async (a: string, b: string, options: CompareOptions) => {
    process.exitCode = await runCompare(a, b, options, {
      out: (text) => process.stdout.write(text),
      warn,
    });
  });

program
  .command('check-contradiction')
  .description('verify a contradiction proof that compare wrote')
  .argument('<file>', 'contradiction proof')
  .option('--ledger-key <file>', "the ledger's public key, as published by its operator; may be repeated", collect)
  .option('--trust <file>', 'trust policy (C2SP tlog-policy) with the keys of the ledger, in place of --ledger-key')
  .option('--json', 'print one JSON object instead of text')
  .addHelpText('after', '\nExit codes: 0 proved; 1 not proved; 2 usage error, or no such file; 3 no key given.')
  .action(async (path: string, options: ContradictionOptions) => {
    process.exitCode = await runCheckContradiction(path, options, (text) => process.stdout.write(text));
  });

program
  .command('explain')
  .description('explain a check of a report: what it asks, what makes it fail, and what leaves it open')
  .argument('[check]', 'id of the check, such as tst.path, or its first part, such as tst; default: all checks')
  .option('--json', 'print one JSON array instead of text')
  .addHelpText('after', '\nThe sections § are those of docs/evidence-format.md. Exit codes: 0; 2 usage error.')
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
