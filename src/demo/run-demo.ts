import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SingleBar } from 'cli-progress';
import * as z from 'zod';
import { decodeDisclosure } from '../../schemas/evidence/disclosure.js';
import { EntryLine, PACKAGE_FILES } from '../../schemas/evidence/package-lines.js';
import { type Alteration, alterOneCharacter, readPackage } from './alter-package.js';
import { consentLedger, consentVerify, startService } from './program.js';
import {
  browserConsent,
  documentApproval,
  ERASED_EMAIL,
  ERASED_VISITOR,
  LANGUAGES,
  type Versions,
} from './seed/consents.js';
import { SignedClient } from './seed/signed-client.js';
import { Seed } from './seed.js';

const BATCH_SIZE = 100;
/** The fraction of the consents that is sent in submission batches. */
const IN_BATCHES = 0.6;
const PARALLEL = 16;
const PATIENCE_MS = 120_000;

export interface Kept {
  readonly evidence: string;
  readonly tsaRoot: string;
  readonly ledgerKey: string;
}

interface DemoOptions {
  /** Environment of the programs. */
  readonly env: NodeJS.ProcessEnv;
  /** Folder for the packages. */
  readonly output: string;
  /** How many are recorded; at least 200. */
  readonly consents: number;
}

interface Demo extends DemoOptions {
  readonly narrator: Narrator;
  readonly seed: Seed;
  readonly client: SignedClient;
}

/**
 * Demonstrates the life cycle of many consents, and checks every step.
 * @throws Error if a step does not have the expected result
 */
export async function runDemo(options: DemoOptions): Promise<Kept> {
  const narrator = createNarrator(process.stdout);
  process.stdout.write(
    'This takes about a minute: it runs the service as a user does, and changes nothing but demo-output.\n',
  );
  narrator.step('Starting the service with an embedded PostgreSQL and a development time stamp authority');
  const service = await startService(options.env);
  try {
    narrator.say(`The service listens on ${service.baseUrl}.`);
    const json = await consentLedger(['admin', 'seed-demo', '--json', '--rate-limit', '100000'], options.env);
    const seed = Seed.parse(JSON.parse(json));
    narrator.say(`Created a demonstration tenant with the site ${seed.site.domain}.`);
    const demo: Demo = { ...options, narrator, seed, client: new SignedClient(service.baseUrl, seed.keys) };

    const tokens = await recordConsents(demo);
    await waitForStamp(demo, tokens);
    await compareCounts(demo, tokens.length);
    const first = await exportAndVerify(demo, 'evidence.zip', tokens.length);
    await alterAndVerify(demo, first);
    const evidence = await eraseAndVerify(demo, first, tokens.length);
    await rm(first);
    return { evidence, tsaRoot: seed.tsa_ca, ledgerKey: seed.ledger_key };
  } finally {
    await service.stop();
  }
}

async function recordConsents({ client, narrator, seed, env, consents: total }: Demo): Promise<string[]> {
  narrator.step(`Recording ${total} consents over HTTP; every request is signed`);
  const cookiePolicy = documentOf(seed, 'cookie_policy');
  const approval = seed.documents.find((document) => document.requires_approval_token);
  if (approval === undefined)
    throw new Error('the demonstration tenant has no document that requires an approval token');
  const versions = await activeVersions(client, cookiePolicy.slug, approval.slug);
  const bar = narrator.progress(total);
  const batches = Math.floor((total * IN_BATCHES) / BATCH_SIZE);
  const singles = total - batches * BATCH_SIZE - 1;
  const half = Math.floor(singles / 2);

  const record = async (from: number, count: number, current: Versions): Promise<string[]> => {
    const numbers = Array.from({ length: count }, (_, i) => from + i);
    return inParallel(numbers, async (n) => {
      const tokens = await client.record(browserConsent(n, current.cookiePolicy, seed.categories));
      bar.advance(1);
      return tokens;
    });
  };
  const tokens = await record(0, half, versions);

  // Half-way, a second version of the cookie policy becomes active, and later consents refer to it.
  const renewed = {
    ...versions,
    cookiePolicy: await activateSecondVersions(client, seed.site.id, cookiePolicy, env),
  };
  tokens.push(...(await record(half, singles - half, renewed)));
  for (let batch = 0; batch < batches; batch += 1) {
    const from = singles + batch * BATCH_SIZE;
    const consents = Array.from({ length: BATCH_SIZE }, (_, i) =>
      browserConsent(from + i, renewed.cookiePolicy, seed.categories),
    );
    tokens.push(...(await client.recordBatch(consents)));
    bar.advance(BATCH_SIZE);
  }
  const bearer = await client.login(seed.api_user.email, seed.api_user.password);
  const approvalToken = await client.approvalToken(bearer, {
    document_slug: approval.slug,
    subject: ERASED_VISITOR,
    signer_name: 'Ayşe Demo',
    signer_email: ERASED_EMAIL,
  });
  tokens.push(...(await client.record(documentApproval(renewed, approvalToken))));
  bar.advance(1);
  bar.done();
  const distinct = new Set(tokens).size;
  if (distinct !== total) throw new Error(`${distinct} consents were accepted, not ${total}`);
  narrator.say(
    `The service accepted ${distinct}: ${singles} one by one, ${batches * BATCH_SIZE} in submission batches, 1 signed document.`,
  );
  narrator.say('Each response confirms that the consent is durable and its proof hash final.');
  return tokens;
}

function documentOf(seed: Seed, kind: string): Seed['documents'][number] {
  const found = seed.documents.find((document) => document.kind === kind);
  if (found === undefined) throw new Error(`the demonstration tenant has no document of kind ${kind}`);
  return found;
}

async function activeVersions(client: SignedClient, cookieSlug: string, approvalSlug: string): Promise<Versions> {
  const [cookieEn, cookieTr, formEn, formTr] = await Promise.all([
    client.activeVersion(cookieSlug, 'en'),
    client.activeVersion(cookieSlug, 'tr'),
    client.activeVersion(approvalSlug, 'en'),
    client.activeVersion(approvalSlug, 'tr'),
  ]);
  return { cookiePolicy: { en: cookieEn, tr: cookieTr }, consentForm: { en: formEn, tr: formTr } };
}

const Version = z.object({ data: z.object({ id: z.string() }) });

async function activateSecondVersions(
  client: SignedClient,
  siteId: string,
  { id: documentId, slug }: Seed['documents'][number],
  env: NodeJS.ProcessEnv,
): Promise<Versions['cookiePolicy']> {
  for (const language of LANGUAGES) {
    const text =
      language === 'en'
        ? 'Cookie policy, second version: we also count visits.'
        : 'Çerez politikası, ikinci sürüm: ziyaretleri de sayıyoruz.';
    const version = async (command: string, ...args: string[]): Promise<string> => {
      const json = await consentLedger(
        ['admin', 'document-version', command, '--site', siteId, '--json', documentId, ...args],
        env,
      );
      return Version.parse(JSON.parse(json)).data.id;
    };
    const about = ['--language', language, '--title', slug, '--media-type', 'text/plain'];
    const id = await version('create', ...about, '--content', text);
    await version('publish', id);
    await version('activate', id);
  }
  return { en: await client.activeVersion(slug, 'en'), tr: await client.activeVersion(slug, 'tr') };
}

async function waitForStamp({ client, narrator }: Demo, tokens: readonly string[]): Promise<void> {
  narrator.step('Waiting until all are in the event log, sealed into Merkle batches and have a time stamp');
  const bar = narrator.progress(tokens.length);
  const deadline = Date.now() + PATIENCE_MS;
  await inParallel(tokens, async (token) => {
    while (!(await client.isStamped(token))) {
      if (Date.now() > deadline) throw new Error(`${token} got no time stamp within ${PATIENCE_MS / 1000} seconds`);
      await sleep(500);
    }
    bar.advance(1);
    return [];
  });
  bar.done();
  narrator.say(
    'From now on every change of one of them can be detected, even one by the operator. So can backdating beyond the delays of the policy.',
  );
}

const Counts = z.object({
  outbox_waiting: z.number(),
  unannounced_erasures: z.number(),
  log_events: z.number(),
  log_consents: z.number(),
  read_model_rows: z.number(),
  consent_leaves: z.number(),
  stamped_consents: z.number(),
  stamped_events: z.number(),
});

async function countsOf({ seed, env }: Demo): Promise<z.infer<typeof Counts>> {
  return Counts.parse(JSON.parse(await consentLedger(['admin', 'count', '--site', seed.site.id, '--json'], env)));
}

async function compareCounts(demo: Demo, accepted: number): Promise<void> {
  demo.narrator.step('Counting the records at each stage');
  const counts = await countsOf(demo);
  demo.narrator.say(
    `accepted over HTTP ${accepted} = events in the log ${counts.log_consents} = rows of the read model ${counts.read_model_rows}` +
      ` = leaves in Merkle batches ${counts.consent_leaves} = with time stamp ${counts.stamped_consents}`,
  );
  const all = [counts.log_consents, counts.read_model_rows, counts.consent_leaves, counts.stamped_consents];
  if (all.some((count) => count !== accepted)) throw new Error('the counts do not agree');
}

const Exported = z.object({ counts: z.object({ consents: z.number(), erased: z.number() }) });
const Report = z.object({
  verdict: z.enum(['valid', 'invalid', 'indeterminate']),
  checks: z.array(z.object({ id: z.string(), outcome: z.string(), message: z.string() })),
});

async function exportPackage(
  { seed, env, output }: Demo,
  name: string,
): Promise<{ path: string; consents: number; erased: number }> {
  const path = join(output, name);
  const args = ['evidence', 'export', '--site', seed.site.id, '--disclose', 'all', '--output', path, '--json'];
  const { counts } = Exported.parse(JSON.parse(await consentLedger(args, env)));
  return { path, ...counts };
}

async function verify(
  { seed }: Demo,
  path: string,
): Promise<z.infer<typeof Report> & { text: string; exitCode: number }> {
  const args = ['check', path, '--tsa-ca', seed.tsa_ca, '--ledger-key', seed.ledger_key, '--json'];
  const { output, exitCode } = await consentVerify(args);
  return { ...Report.parse(JSON.parse(output)), text: output, exitCode };
}

async function exportAndVerify(demo: Demo, name: string, expected: number): Promise<string> {
  demo.narrator.step('Exporting an evidence package, and verifying it offline in a separate process');
  const { path, consents } = await exportPackage(demo, name);
  if (consents !== expected) throw new Error(`the package contains ${consents} consents, not ${expected}`);
  const report = await verify(demo, path);
  demo.narrator.say(`The package contains ${consents} consents. Verdict: ${report.verdict} (${passed(report)}).`);
  if (report.verdict !== 'valid' || report.exitCode !== 0)
    throw new Error(`the evidence should be valid: ${failures(report)}`);
  demo.narrator.say(
    'The verifier used only the package, the root of the time stamp authority and the public key of the ledger.',
  );
  return path;
}

async function alterAndVerify(demo: Demo, path: string): Promise<void> {
  demo.narrator.step('Altering one character of one record in a copy');
  const copy = join(demo.output, 'altered.zip');
  const alteration: Alteration = await alterOneCharacter(path, copy);
  const report = await verify(demo, copy);
  await rm(copy);
  demo.narrator.say(`Changed created_at of ${alteration.eventId} from ${alteration.before} to ${alteration.after}.`);
  if (report.verdict !== 'invalid' || report.exitCode !== 1)
    throw new Error('the verifier did not detect the alteration');
  if (!report.text.includes(alteration.eventId)) throw new Error('the report does not name the altered record');
  demo.narrator.say(
    `Verdict: ${report.verdict}, and the report names the record. Failed checks: ${failedIds(report)}.`,
  );
}

async function eraseAndVerify(demo: Demo, before: string, expected: number): Promise<string> {
  const { narrator, seed, env } = demo;
  narrator.step(`Erasing one person (${ERASED_VISITOR}) and exporting again`);
  const values = [ERASED_VISITOR, ERASED_EMAIL];
  const disclosedBefore = await personalValuesIn(before, values);
  await consentLedger(['admin', 'erase', '--site', seed.site.id, '--visitor', ERASED_VISITOR, '--json'], env);
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const counts = await countsOf(demo);
    const isQueued = counts.unannounced_erasures === 0 && counts.outbox_waiting === 0;
    if (isQueued && counts.stamped_events === counts.log_events) break;
    if (Date.now() > deadline) throw new Error('the erasure got no time stamp in time');
    await sleep(250);
  }
  const { path, consents, erased } = await exportPackage(demo, 'evidence-after-erasure.zip');
  const report = await verify(demo, path);
  const disclosedAfter = await personalValuesIn(path, values);
  narrator.say(`Values of this person in the first package: ${disclosedBefore}. In the second: ${disclosedAfter}.`);
  narrator.say(`Of ${consents} consents ${erased} are marked erased. Verdict: ${report.verdict} (${passed(report)}).`);
  if (consents !== expected || erased === 0)
    throw new Error('the second package does not contain the expected records');
  if (disclosedBefore === 0 || disclosedAfter !== 0) throw new Error('the personal values are still in the package');
  if (report.verdict !== 'valid' || report.exitCode !== 0)
    throw new Error(`the evidence should still be valid: ${failures(report)}`);
  narrator.say('The package still proves that the consents were given. It no longer shows who gave the erased ones.');
  return path;
}

function passed(report: z.infer<typeof Report>): string {
  return `${report.checks.filter((check) => check.outcome === 'pass').length} checks passed`;
}

function failedIds(report: z.infer<typeof Report>): string {
  return report.checks.flatMap((check) => (check.outcome === 'fail' ? [check.id] : [])).join(', ');
}

function failures(report: z.infer<typeof Report>): string {
  return report.checks
    .filter((check) => check.outcome !== 'pass' && check.outcome !== 'not-applicable')
    .map((check) => `${check.id}: ${check.message}`)
    .join('; ');
}

/**
 * Runs `work` for each item with bounded concurrency.
 * @returns the results in the order of the items
 */
async function inParallel<T, R>(items: readonly T[], work: (item: T) => Promise<R[]>): Promise<R[]> {
  const results = new Array<R[]>(items.length);
  const queue = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of queue) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
  return results.flat();
}

/** Counts the occurrences of these values in a package, in plain text or in a disclosure. */
async function personalValuesIn(path: string, values: readonly string[]): Promise<number> {
  const files = await readPackage(path);
  let found = 0;
  for (const content of files.values()) {
    const text = content.toString('utf8');
    found += values.filter((value) => text.includes(value)).length;
  }
  const lines = files.get(PACKAGE_FILES.entries)?.toString('utf8').split('\n') ?? [];
  for (const line of lines) {
    if (line === '') continue;
    for (const disclosure of EntryLine.parse(JSON.parse(line)).disclosures) {
      const value = JSON.stringify(decodeDisclosure(disclosure)?.value ?? null);
      if (values.some((personal) => value.includes(personal))) found += 1;
    }
  }
  return found;
}

/** Prints the steps of the demonstration and what they prove, with progress bars on a terminal. */
interface Narrator {
  step(title: string): void;
  say(text: string): void;
  progress(total: number): { advance(by: number): void; done(): void };
}

function createNarrator(output: NodeJS.WriteStream): Narrator {
  let number = 0;
  return {
    step: (title) => {
      number += 1;
      output.write(`\n${number}. ${title}\n`);
    },
    say: (text) => {
      output.write(`   ${text}\n`);
    },
    progress: (total) => {
      if (!output.isTTY) return { advance: () => undefined, done: () => undefined };
      const bar = new SingleBar({ format: '   {bar} {value}/{total}', clearOnComplete: true, stream: output });
      bar.start(total, 0);
      return { advance: (by) => bar.increment(by), done: () => bar.stop() };
    },
  };
}
