import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { sha256Hex } from '../../../schemas/crypto/digest.js';
import { decodeUtf8, utf8 } from '../../../schemas/crypto/encoding.js';
import { formatAddCheckpoint } from '../../../schemas/evidence/add-checkpoint.js';
import { Contradiction } from '../../../schemas/evidence/contradiction.js';
import { runCheckContradiction } from '../../../verifier-cli/src/cli/contradiction-command.js';
import { verifyContradiction } from '../../../verifier-cli/src/compare/contradiction.js';
import { en } from '../../../verifier-cli/src/i18n/en/index.js';
import { terminalReport } from '../../../verifier-cli/src/index.js';
import type { AuditOutcome } from '../../../verifier-cli/src/network/structure/audit-newest.js';
import { runWatch, type WatchCommandOptions } from '../../../verifier-cli/src/network/watch/watch-command.js';
import { createWitness } from '../../../verifier-cli/src/network/witness/server.js';
import { openWitnessState } from '../../../verifier-cli/src/network/witness/state.js';
import { createStructureAudit } from '../../../verifier-cli/src/network/witness/structure-audit.js';
import { runWitness } from '../../../verifier-cli/src/network/witness/witness-command.js';
import { createWitnessKey, readWitnessKey } from '../../../verifier-cli/src/network/witness/witness-key.js';
import { titleNeeding } from '../../support/missing-tools.js';
import { hasOpenssl } from '../../support/openssl-tsa.js';
import { listen, listenWith } from '../../support/running-witness.js';
import { hasPython } from '../by-hand.js';
import { choose, draftOf, packed, type Request } from '../dishonest-operator/export.js';
import { cosign, requireWitnesses } from '../dishonest-operator/forged-witnesses.js';
import { cosignature, type NamedKey, namedKey } from '../dishonest-operator/keys.js';
import { type Ledger, makeLedger } from '../dishonest-operator/ledger.js';
import { concat, type JsonRecord } from '../dishonest-operator/primitives.js';
import { publicationOf, structurePath } from '../dishonest-operator/publication.js';
import {
  addPolicy,
  bend,
  EARLY,
  LATE,
  OURS,
  ROLL_UP,
  STRUCTURE_LIES,
  shift,
} from '../dishonest-operator/structure-lies.js';
import { TimeAuthority } from '../dishonest-operator/time-authority.js';
import { verify } from '../dishonest-operator/verification.js';
import { makePlan, WORLDS } from '../dishonest-operator/world.js';
import { type AuditFilesOptions, auditFiles, keysOf, sourceOf } from './audit-files.js';

/*
 * The auditor of the published structure finds every structural lie without a package, and its proof is
 * confirmed offline. The forger publishes by code of its own.
 */

const authority = new TimeAuthority();

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'structure-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

const audit = (
  ledger: Ledger,
  files: ReadonlyMap<string, Uint8Array>,
  options: AuditFilesOptions = {},
): Promise<AuditOutcome> => auditFiles(ledger, files, folder, options);

describe.each(Object.entries(STRUCTURE_LIES))('%s', (_, { plan: change, lies = {}, kind }) => {
  test('is found and proved', async () => {
    const plan = makePlan(WORLDS.rolled);
    change?.(plan);
    const ledger = makeLedger(plan, authority, lies);
    const outcome = await audit(ledger, publicationOf(ledger));
    expect(outcome).toMatchObject({ outcome: 'contradiction', contradiction: { kind } });
    if (outcome.outcome === 'sound' || outcome.contradiction === null) return;
    const proof = Contradiction.parse(JSON.parse(JSON.stringify(outcome.contradiction)));
    const verdict = await verifyContradiction(proof, keysOf(plan), new Date());
    expect(verdict).toMatchObject({ outcome: 'proved' });
    expect(outcome.statement).toContain(plan.origin);
  });
});

describe('an honest ledger', () => {
  const plan = makePlan(WORLDS.rolled);
  addPolicy(plan);
  const ledger = makeLedger(plan, authority);

  test('is sound, in one look or in several', async () => {
    for (const size of [100, 100, 200, 280])
      expect(await audit(ledger, publicationOf(ledger, size)), String(size)).toEqual({ outcome: 'sound' });
    await rm(folder, { recursive: true });
    expect(await audit(ledger, publicationOf(ledger))).toEqual({ outcome: 'sound' });
  });

  test('is audited on from where a crash ended it', async () => {
    const files = publicationOf(ledger);
    const opened: string[] = [];
    const crash = (path: string): void => {
      if (path === structurePath(200)) throw new Error('crash');
    };
    await expect(audit(ledger, files, { commitMs: 0, onOpen: crash })).rejects.toThrow('crash');
    expect((await readdir(join(folder))).sort()).toContain('structure.json');
    expect(await audit(ledger, files, { onOpen: (path) => opened.push(path) })).toEqual({ outcome: 'sound' });
    expect(opened).not.toContain(structurePath(126));
    expect(opened).toContain(structurePath(128));
    expect(opened).not.toContain(structurePath(ROLL_UP));
  });

  test('is audited on from where the monitor was stopped', async () => {
    const files = publicationOf(ledger);
    const stopping = new AbortController();
    const onOpen = (path: string): void => {
      if (path === structurePath(50)) stopping.abort();
    };
    const stopped = await audit(ledger, files, { onOpen, signal: stopping.signal });
    expect(stopped).toMatchObject({ outcome: 'undecided' });
    const opened: string[] = [];
    expect(await audit(ledger, files, { onOpen: (path) => opened.push(path) })).toEqual({ outcome: 'sound' });
    expect(opened).not.toContain(structurePath(20));
    expect(opened).toContain(structurePath(100));
  });

  test.each<[string, (files: Map<string, Uint8Array>) => void, RegExp]>([
    ['withholds a file', (files) => files.delete(structurePath(100)), /the file log\/structure\/100 is not published/],
    [
      'truncates a file',
      (files) => files.set(structurePath(EARLY), files.get(structurePath(EARLY))?.slice(0, -32) ?? new Uint8Array()),
      /structure\/060 is shorter/,
    ],
    [
      'appends to a file',
      (files) =>
        files.set(structurePath(EARLY), concat(files.get(structurePath(EARLY)) ?? new Uint8Array(), new Uint8Array(1))),
      /structure\/060 is longer/,
    ],
    [
      'changes a file',
      (files) => {
        const file = files.get(structurePath(EARLY))?.slice() ?? new Uint8Array(1);
        file[file.length - 1] = (file[file.length - 1] ?? 0) ^ 1;
        files.set(structurePath(EARLY), file);
      },
      /structure\/060 is not what its header commits to/,
    ],
    ['withholds headers', (files) => files.delete('log/tile/entries/000'), /the bundle of entries 0 is not published/],
    [
      'changes a header',
      (files) => {
        const file = files.get('log/tile/entries/000')?.slice() ?? new Uint8Array(9);
        file[9] = (file[9] ?? 0) ^ 1;
        files.set('log/tile/entries/000', file);
      },
      /not those to which checkpoint 280 commits/,
    ],
  ])('whose operator %s is a violation without a proof', async (_, change, message) => {
    const files = publicationOf(ledger);
    change(files);
    const outcome = await audit(ledger, files);
    expect(outcome).toMatchObject({ outcome: 'violation', contradiction: null });
    expect(outcome.outcome === 'sound' ? '' : outcome.statement).toMatch(message);
    expect(outcome.outcome === 'sound' ? '' : outcome.statement).toContain('no proof is possible');
  });

  test('needs no file of a roll-up', async () => {
    const files = publicationOf(ledger);
    files.delete(structurePath(ROLL_UP));
    expect(await audit(ledger, files)).toEqual({ outcome: 'sound' });
  });
});

test('a roll-up that counts more streams than its tree has is a violation without a proof', async () => {
  const header = (one: JsonRecord, number: number): void => {
    if (number === ROLL_UP) Object.assign(one, { streams_count: Number(one.streams_count) + 1 });
  };
  const ledger = makeLedger(makePlan(WORLDS.rolled), authority, { header });
  expect(await audit(ledger, publicationOf(ledger))).toMatchObject({ outcome: 'violation', contradiction: null });
});

test('a wrong roll-up whose file is withheld is a violation without a proof', async () => {
  const ledger = makeLedger(makePlan(WORLDS.rolled), authority, { runs: bend(ROLL_UP, shift(OURS, 0, -1)) });
  const files = publicationOf(ledger);
  files.delete(structurePath(ROLL_UP));
  const outcome = await audit(ledger, files);
  expect(outcome).toMatchObject({ outcome: 'violation', contradiction: null });
  expect(outcome.outcome === 'sound' ? '' : outcome.statement).toMatch(/roll-up 127 .*structure\/127 is not published/);
});

test('a proof of an absence proves nothing without one of its leaves', async () => {
  const ledger = makeLedger(makePlan(WORLDS.rolled), authority, { runs: bend(140, shift(OURS, 1, 1)) });
  const outcome = await audit(ledger, publicationOf(ledger));
  if (outcome.outcome === 'sound' || outcome.contradiction?.kind !== 'absent') throw new Error('it is not found');
  const file = outcome.contradiction;
  for (const [i] of file.absent.entries()) {
    const proof = Contradiction.parse({ ...file, absent: file.absent.toSpliced(i, 1) });
    expect((await verifyContradiction(proof, keysOf(ledger.plan), new Date())).outcome, String(i)).toBe('not-proved');
  }
  const whole = Contradiction.parse({ ...file, first: null });
  expect((await verifyContradiction(whole, keysOf(ledger.plan), new Date())).outcome).toBe('not-proved');
});

describe('consent-verify watch --structure', () => {
  const plan = makePlan(WORLDS.rolled);
  const honest = makeLedger(plan, authority);
  const lying = makeLedger(makePlan(WORLDS.rolled), authority, { runs: bend(ROLL_UP, shift(OURS, 0, -1)) });
  let printed = '';
  const watch = (url: string, changes: Partial<WatchCommandOptions> = {}): Promise<number> => {
    printed = '';
    // The ledger was sealed in March 2026.
    const maxAge = '1000000h';
    const options = { ledgerKey: [plan.keys.first.line], interval: '1s', maxAge, once: true, structure: true };
    return runWatch(
      url,
      { ...options, state: join(folder, 'state'), ...changes },
      (text) => {
        printed += text;
      },
      new AbortController().signal,
    );
  };
  const write = async (files: ReadonlyMap<string, Uint8Array>): Promise<string> => {
    const root = join(folder, 'site', 'checkpoints');
    for (const [path, bytes] of files) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), bytes);
    }
    return join(folder, 'site');
  };

  test('audits a folder, and writes a proof that check-contradiction confirms', async () => {
    const site = await write(publicationOf(honest, 100));
    expect(await watch(site), printed).toBe(0);
    expect(printed).toContain('the structure up to it was recomputed');
    await write(publicationOf(lying));
    expect(await watch(`file://${site}`), printed).toBe(1);
    expect(printed).toContain('CONTRADICTION');
    const [proof] = (await readdir(join(folder, 'state'))).filter((name) => name.startsWith('contradiction-'));
    await writeFile(join(folder, 'ledger.vkey'), plan.keys.first.line);
    const path = join(folder, 'state', proof ?? '');
    expect(await runCheckContradiction(path, { ledgerKey: [join(folder, 'ledger.vkey')] }, () => undefined)).toBe(0);
  });

  test('raises an alarm for a copy that nobody renews, whenever it was made', async () => {
    const site = await write(publicationOf(honest, 100));
    expect(await watch(site, { maxAge: '24h' })).toBe(3);
    expect(printed).toContain('the ledger is stale: its newest checkpoint 100 is of 2026-03-');
    // The last header is altered: it states another time, or is none.
    const bundle = join(site, 'checkpoints', 'log/tile/entries/000.p/100');
    const bytes = await readFile(bundle, 'latin1');
    const place = bytes.lastIndexOf('"sealed_at":"2026');
    await writeFile(bundle, `${bytes.slice(0, place)}"sealed_at":"9999${bytes.slice(place + 17)}`, 'latin1');
    await rm(join(folder, 'state'), { recursive: true });
    expect(await watch(site, { maxAge: '24h' })).toBe(1);
    expect(printed).toContain('VIOLATION: the published headers are not those to which checkpoint 100 commits');
    await writeFile(bundle, `${bytes.slice(0, place)}"sealed-at":"2026${bytes.slice(place + 17)}`, 'latin1');
    expect(await watch(site, { maxAge: '24h' })).toBe(1);
    expect(printed).toContain('VIOLATION');
  });

  test('audits a host over HTTP, with a token where one is required', async () => {
    const files = publicationOf(honest, 100);
    const host = await listenWith((request, response) => {
      const path = request.url?.replace('/checkpoints/', '') ?? '';
      const isRefused = path.startsWith('log/structure/') && request.headers.authorization !== 'Bearer secret';
      const file = files.get(path);
      response.writeHead(isRefused ? 401 : file === undefined ? 404 : 200).end(isRefused ? '' : file);
    });
    expect(await watch(host.url)).toBe(3);
    expect(printed).toContain('answered HTTP 401');
    await writeFile(join(folder, 'token'), 'secret\n');
    const tokenFile = join(folder, 'token');
    expect(await watch(host.url, { tokenFile }), printed).toBe(0);
    files.delete('log/tile/entries/000.p/100');
    await rm(join(folder, 'state', 'structure'), { recursive: true });
    expect(await watch(host.url, { tokenFile })).toBe(1);
    expect(printed).toContain('VIOLATION');
    await host.stop();
    expect(await watch(host.url, { tokenFile })).toBe(3);
  });

  test('refuses a location that is none, and the state of another ledger', async () => {
    await expect(watch(join(folder, 'nothing'))).rejects.toThrow('is not a folder');
    await expect(watch('ftp://ledger.example')).rejects.toThrow('is not a URL');
    await watch(await write(publicationOf(honest, 100)));
    const path = join(folder, 'state', 'structure', 'structure.json');
    await writeFile(path, (await readFile(path, 'utf8')).replace(plan.origin, 'ledger.example/other'));
    await expect(watch(join(folder, 'site'))).rejects.toThrow('use one folder for each ledger');
  });
});

describe('consent-verify witness --structure', () => {
  const plan = makePlan(WORLDS.rolled);
  const honest = makeLedger(plan, authority);

  /** Submits the checkpoint of a size to a witness that audits these files. */
  async function submit(ledger: Ledger, files: ReadonlyMap<string, Uint8Array>, size: number, oldSize = 0) {
    const state = await openWitnessState(folder);
    const keyFile = join(folder, 'witness.key');
    const name = 'witness.example/w1/structure';
    const signer = await readWitnessKey(keyFile).catch(() => createWitnessKey(keyFile, name));
    const [ledgerKeys, log] = [keysOf(ledger.plan), () => undefined];
    const audit = createStructureAudit({ source: sourceOf(files), folder, ledgerKeys, log });
    const witness = await listen(createWitness({ signer, state, ledgerKeys, log, audit }));
    const note = decodeUtf8(files.get(`${size}/note`) ?? new Uint8Array()) ?? '';
    const proof = oldSize === 0 ? [] : ledger.tree.consistency(oldSize, size);
    const body = formatAddCheckpoint({ oldSize, proof: [...proof], note });
    const response = await fetch(`${witness.url}/add-checkpoint`, { method: 'POST', body });
    const text = await response.text();
    await witness.stop();
    await state.close();
    return { status: response.status, text };
  }

  test('cosigns each checkpoint after the audit up to it', async () => {
    const files = publicationOf(honest);
    const first = await submit(honest, files, 100);
    expect(first).toMatchObject({ status: 200 });
    expect(first.text).toContain('— witness.example/w1/structure ');
    expect(await submit(honest, files, 280, 100)).toMatchObject({ status: 200 });
  });

  test('learns the next keys of the ledger where it audits it, and no others', async () => {
    const rotated = makeLedger(makePlan(WORLDS.rotated), authority);
    expect(await submit(rotated, publicationOf(rotated, 80), 80)).toMatchObject({ status: 200 });
    const withheld = publicationOf(rotated);
    withheld.delete('keys');
    expect(await submit(rotated, withheld, 140, 80)).toMatchObject({ status: 403 });
    const [forger, stranger] = [makePlan(WORLDS.rotated), namedKey(plan.origin, 'key of a thief')];
    forger.signers = (size) => (size === 20 ? [forger.keys.first] : [stranger, forger.keys.next]);
    const forged = makeLedger(forger, authority);
    expect(await submit(forged, publicationOf(forged), 140, 80)).toMatchObject({ status: 403 });
    expect(await submit(rotated, publicationOf(rotated), 140, 80)).toMatchObject({ status: 200 });
  });

  test('cosigns nothing over a wrong structure, and keeps the proof', async () => {
    const lying = makeLedger(makePlan(WORLDS.rolled), authority, { runs: bend(ROLL_UP, shift(OURS, 0, -1)) });
    const files = publicationOf(lying);
    expect(await submit(lying, files, 100)).toMatchObject({ status: 200 });
    const refused = await submit(lying, files, 200, 100);
    expect(refused).toMatchObject({ status: 422 });
    expect(refused.text).toContain('sealed roll-up 127, which is not the sum');
    expect((await readdir(folder)).filter((name) => name.startsWith('contradiction-'))).toHaveLength(1);
    // The refused checkpoint was not stored: the honest continuation is cosigned.
    expect(await submit(honest, publicationOf(honest), 200, 100)).toMatchObject({ status: 200 });
  });

  test('cosigns nothing while a part is withheld, nor a fork of what it audited', async () => {
    const files = publicationOf(honest);
    files.delete(structurePath(70));
    expect(await submit(honest, files, 100)).toMatchObject({ status: 422 });
    expect(await submit(honest, publicationOf(honest), 200)).toMatchObject({ status: 200 });
    await rm(join(folder, `${sha256Hex(plan.origin)}.json`));
    const other = makePlan(WORLDS.rolled);
    other.batches.delete(LATE);
    const fork = makeLedger(other, authority);
    expect(await submit(fork, publicationOf(fork), 280)).toMatchObject({ status: 422 });
    expect(await submit(fork, publicationOf(fork), 100)).toMatchObject({ status: 503 });
  });

  test('demands a name that says so, and one ledger', async () => {
    const options = { listen: '127.0.0.1:0', state: join(folder, 'state'), ledgerKey: [plan.keys.first.line] };
    const print = { out: () => undefined, log: () => undefined };
    const keyFile = join(folder, 'key');
    const run = (more: object) => runWitness({ ...options, keyFile, ...more }, print, AbortSignal.abort());
    await run({ listen: undefined, newKey: 'witness.example/w1' });
    await expect(run({ structure: folder })).rejects.toThrow('does not end in /structure');
    await rm(keyFile);
    await run({ listen: undefined, newKey: 'witness.example/w1/structure' });
    await expect(run({})).rejects.toThrow('so give --structure');
    const ledgerKey = [plan.keys.first.line, namedKey('ledger.example/other', 'other').line];
    await expect(run({ structure: folder, ledgerKey })).rejects.toThrow('run one witness for each');
    await run({ structure: folder });
  });
});

describe('the verdict on a package', () => {
  const plan = makePlan(WORLDS.small);
  const ledger = makeLedger(plan, authority);
  const auditing = namedKey('witness.example/w1/structure', 'auditing', 4);
  const plain = namedKey('witness.example/w1', 'plain', 4);

  async function textsOf(request: Request, keys: readonly NamedKey[], by: readonly NamedKey[]) {
    const draft = draftOf(ledger, request, choose(ledger, request));
    if (by.length > 0) cosign(draft, (text) => by.map((key) => cosignature(key, text, 1_772_439_000)).join(''));
    const options = requireWitnesses(null, ...keys);
    const report = await verify(packed(draft), plan, authority, options);
    expect(report.verdict).toBe('valid');
    return terminalReport(report, en);
  }

  test('names the witness that recomputed the structure', async () => {
    const text = await textsOf({}, [auditing], [auditing]);
    expect(text).toContain(
      'witness.example/w1/structure recomputed the operator’s own summaries of the first 16 batches of the ledger',
    );
    expect(text).toMatch(/consents and erasures that the ledger has \(\d+\)\./);
    expect(text).toMatch(/the last one in the ledger\n/);
    expect(text).not.toContain('as the operator’s own summaries of the ledger state');
    const person = await textsOf({ person: 'alice' }, [auditing], [auditing]);
    expect(person).toMatch(/no withdrawal is left out\./);
  });

  test.each<[string, readonly NamedKey[], readonly NamedKey[]]>([
    ['without a witness', [], []],
    ['by a plain witness', [plain], [plain]],
    ['by an auditing witness that was not given', [plain], [auditing, plain]],
    ['by an auditing witness that did not cosign', [auditing, plain], [plain]],
  ])('states %s what only the operator says', async (_, keys, by) => {
    const text = await textsOf({}, keys, by);
    expect(text).toMatch(/the ledger has \(\d+\), as the operator’s own summaries of the ledger state\./);
    expect(text).toContain('the last one in the ledger by the roll-ups of the operator\n');
    expect(text).toContain('That the operator’s own summaries of the ledger leave nothing out.');
    expect(text).not.toContain('recomputed the operator’s own summaries of the first');
    expect(await textsOf({ person: 'alice' }, keys, by)).toContain(
      'no withdrawal is left out, as the operator’s own summaries of the ledger state.',
    );
  });
});

test.skipIf(!hasPython || !hasOpenssl)(
  titleNeeding(
    'Python 3.9 or openssl',
    hasPython && hasOpenssl,
    'verifier-cli/by-hand/audit_structure.py agrees on every ledger',
  ),
  async () => {
    const plans = Object.entries(STRUCTURE_LIES).map(([name, { plan: change, lies }]) => {
      const plan = makePlan(WORLDS.rolled);
      change?.(plan);
      return { name, ledger: makeLedger(plan, authority, lies), expected: 'NOT CONFIRMED' };
    });
    const honest = makePlan(WORLDS.rolled);
    addPolicy(honest);
    const sound = { ledger: makeLedger(honest, authority), expected: 'CONFIRMED' };
    const altered = ['log/tile/0/000', 'log/tile/0/001.p/24', 'log/tile/1/000.p/1'].map((tile) => ({
      name: tile,
      ...sound,
      tile,
      expected: `NOT CONFIRMED: ${tile} is not what`,
    }));
    const all: readonly { name: string; ledger: Ledger; expected: string; tile?: string }[] = [
      ...[...plans, { name: 'honest', ...sound }, ...altered],
    ];
    const folders: string[] = [];
    for (const [i, { ledger, tile }] of all.entries()) {
      const root = join(folder, String(i));
      const files = publicationOf(ledger);
      if (tile !== undefined) files.set(tile, files.get(tile)?.toReversed() ?? new Uint8Array());
      for (const path of new Set([...files.keys()].map((one) => dirname(join(root, one)))))
        await mkdir(path, { recursive: true });
      await Promise.all([...files].map(([path, bytes]) => writeFile(join(root, path), bytes)));
      folders.push(root);
    }
    // A service has a key of ML-DSA-44 beside it.
    const [name = ''] = honest.keys.first.line.split('+');
    await writeFile(join(folder, 'ledger.vkey'), `${name}+00000000+Bg==\n${honest.keys.first.line}\n`);
    const script = fileURLToPath(new URL('../../../verifier-cli/by-hand/audit_structure.py', import.meta.url));
    const key = ['--ledger-key', join(folder, 'ledger.vkey')];
    const { stdout, stderr } = spawnSync('python3', [script, ...folders, ...key], { encoding: 'utf8' });
    expect(stderr).toBe('');
    const verdicts = stdout.split('\n').filter((line) => /^(?:NOT )?CONFIRMED: /.test(line));
    expect(verdicts).toHaveLength(all.length);
    for (const [i, { name, expected }] of all.entries()) expect(`${name}: ${verdicts[i]}`).toContain(`: ${expected}`);
    // A key of small order, whose signature is right for every text (docs/evidence-format.md §7).
    const identity = Buffer.alloc(32, 0).fill(1, 0, 1);
    const typed = Buffer.concat([Buffer.of(1), identity]);
    const id = sha256Hex(concat(utf8(`${name}\n`), typed)).slice(0, 8);
    await writeFile(join(folder, 'ledger.vkey'), `${name}+${id}+${typed.toString('base64')}\n`);
    const note = join(folders.at(plans.length) ?? '', 'log/checkpoint');
    const [text] = (await readFile(note, 'utf8')).split('\n\n');
    const forged = Buffer.concat([Buffer.from(id, 'hex'), identity, Buffer.alloc(32)]).toString('base64');
    await writeFile(note, `${text}\n\n\u2014 ${name} ${forged}\n`);
    const small = spawnSync('python3', [script, folders.at(plans.length) ?? '', ...key], { encoding: 'utf8' });
    expect(small.stdout).toContain('NOT CONFIRMED: the signature of the checkpoint is invalid');
  },
);
