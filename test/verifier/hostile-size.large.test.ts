import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { sha256 } from '../../schemas/crypto/digest.js';
import { toHex, utf8 } from '../../schemas/crypto/encoding.js';
import { checkpointText } from '../../schemas/evidence/checkpoint.js';
import { PACKAGE_FILES } from '../../schemas/evidence/package-lines.js';
import { octets, oid, sequence, set, timeText } from '../rfc3161/support/der.js';
import { makeResponse, makeToken } from '../rfc3161/support/tokens.js';
import { caseOf } from '../support/case-of.js';
import { fixtureAuthority, LEDGER_KEY, ORIGIN, stampTime } from '../support/ledger-fixture.js';
import { titleNeeding } from '../support/missing-tools.js';
import { buildPackage, type Files, type PackageHooks } from '../support/package-builder.js';
import { signedNote } from '../support/signing-key.js';
import { type BundledCommand, bundleCommand } from './bundled-command.js';

/**
 * Prints the most memory that the process held, in KiB. The value of `getrusage` may be that of
 * the process which started it.
 */
const GAUGE = `data:text/javascript,${encodeURIComponent(`
  import { readFileSync } from 'node:fs';
  process.on('exit', () => process.stderr.write(/^VmHWM:\\s*(\\d+) kB$/m.exec(readFileSync('/proc/self/status', 'latin1'))[1]));
`)}`;
const hasProc = existsSync('/proc/self/status');
const MIB = 1024 * 1024;
const authority = fixtureAuthority();
let command: BundledCommand;

beforeAll(() => {
  command = bundleCommand();
  command.write('root.der', authority.root.der);
  command.write('ledger.key', LEDGER_KEY.verifierKey);
});
afterAll(() => command.remove());

const Result = z.object({
  verdict: z.string(),
  checks: z.array(
    z.object({ id: z.string(), outcome: z.string(), problems: z.array(z.object({ message: z.string() })) }),
  ),
});

/** Checks a package by the command, and says what failed and how much memory it took. */
function check(hooks: PackageHooks): { failed: readonly string[]; messages: string; mebibytes: number } {
  const zip = command.write('package.zip', buildPackage(authority, hooks));
  const args = ['check', zip, '--tsa-ca', 'root.der', '--ledger-key', 'ledger.key', '--json'];
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--import', GAUGE, `${command.folder}/consent-verify.mjs`, ...args],
    {
      encoding: 'utf8',
      cwd: command.folder,
      maxBuffer: 64 * MIB,
    },
  );
  const { verdict, checks } = Result.parse(JSON.parse(stdout));
  expect(verdict).toBe('invalid');
  const failed = checks.filter(({ outcome }) => outcome === 'fail');
  return {
    failed: failed.map(({ id }) => id),
    messages: failed.flatMap(({ problems }) => problems.map(({ message }) => message)).join('\n'),
    mebibytes: Number(stderr) / 1024,
  };
}

/** Adds files before the manifest is signed. */
const adding = (fill: (files: Files) => void): PackageHooks => ({ files: fill });

test('does not decompress a manifest that is a bomb, and the command states the reason', () => {
  const zip = buildPackage(authority, {
    zipFiles: (files) => [
      ...files.filter(({ name }) => name !== PACKAGE_FILES.manifest),
      { name: PACKAGE_FILES.manifest, content: new Uint8Array(2 * MIB).fill(0x5b), deflate: true },
    ],
  });
  const result = command.run('check', command.write('bomb.zip', zip));
  expect(result.status).toBe(1);
  expect(result.stdout).toContain('exceeds the limits on size or compression ratio');
});

describe.skipIf(!hasProc)(titleNeeding('/proc', hasProc, 'memory stays bounded'), () => {
  caseOf('hostile sizes of a package')(
    'checkpoints of a MiB each, a thousand times smaller when packed, are not held',
    () => {
      const { failed, mebibytes } = check(
        adding((files) => {
          const note = String(Buffer.from(files.get(PACKAGE_FILES.note(5)) ?? []));
          const long = utf8(note.replace('\n\n', `\n${'x'.repeat(MIB - 1000)}\n\n`));
          for (let size = 100; size < 500; size += 1) files.set(PACKAGE_FILES.note(size), long);
        }),
      );
      expect(failed).toContain('container.limits');
      expect(mebibytes).toBeLessThan(250);
    },
  );

  caseOf('hostile sizes of a package')('nor are so many of a size that is allowed', () => {
    const { messages, mebibytes } = check(
      adding((files) => {
        const note = String(Buffer.from(files.get(PACKAGE_FILES.note(5)) ?? []));
        const long = utf8(note.replace('\n\n', `\n${'x'.repeat(60_000)}\n\n`));
        for (let size = 100; size < 1_000; size += 1) files.set(PACKAGE_FILES.note(size), long);
      }),
    );
    expect(messages).toContain('the checkpoints together exceed');
    expect(mebibytes).toBeLessThan(350);
  });

  caseOf('hostile sizes of a package')('genuine time stamps with a MiB of padding each are not held', () => {
    const { failed, mebibytes } = check(
      adding((files) => {
        const unsignedAttributes = sequence(oid('1.2.3.4'), set(octets(new Uint8Array(MIB - 10_000))));
        for (let size = 100; size < 300; size += 1) {
          const text = checkpointText({ origin: ORIGIN, size, root: new Uint8Array(32) });
          const note = utf8(signedNote(text, LEDGER_KEY));
          const token = makeToken(authority.tsa, { data: note, genTime: timeText(stampTime(5)), unsignedAttributes });
          files.set(PACKAGE_FILES.note(size), note);
          files.set(PACKAGE_FILES.response(size, 1), makeResponse(token));
        }
      }),
    );
    expect(failed).toContain('ledger.checkpoint');
    expect(mebibytes).toBeLessThan(250);
  });

  caseOf('hostile sizes of a package')('revocation lists of gigabytes are not held', () => {
    const { messages, mebibytes } = check(
      adding((files) => {
        // Packed little enough not to be taken for a bomb.
        const list = new Uint8Array(15 * MIB);
        for (let i = 0; i < list.length; i += 1) list[i] = i % 97 === 0 ? (i * 2654435761) >>> 24 : 0;
        for (let n = 0; n < 8; n += 1) {
          const one = list.slice();
          one[0] = n;
          files.set(PACKAGE_FILES.crl(toHex(sha256(one))), one);
        }
      }),
    );
    expect(messages).toContain('the crls together exceed');
    expect(mebibytes).toBeLessThan(350);
  });

  caseOf('hostile sizes of a package')('half a million tags take little more memory than their bytes', () => {
    const { failed, mebibytes } = check(
      adding((files) => {
        const lines = Array.from(
          { length: 500_000 },
          (_, index) => `{"index":${index},"tag":"${toHex(sha256(utf8(String(index))))}"}\n`,
        );
        const batch = [...Array(10).keys()].find((number) => files.has(PACKAGE_FILES.tags(number)));
        files.set(PACKAGE_FILES.tags(batch ?? 0), utf8(lines.join('')));
      }),
    );
    expect(failed).toContain('batch.tags');
    expect(mebibytes).toBeLessThan(250);
  });
});
