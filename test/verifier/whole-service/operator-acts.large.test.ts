import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { caseOf } from '../../support/case-of.js';
import { freePort } from '../../support/free-port.js';
import { seedTenant } from '../../support/seeded-demo.js';
import { isExhaustive } from '../../support/sweeps.js';
import { type Audit, AuditingWitness } from './auditing-witness.js';
import { insertBackdated } from './backdated-consent.js';
import { withoutRecords } from './doctored-package.js';
import { type Answer, Caller, eventIdOf, Files, OperatedInstallation, Witness } from './installation.js';
import { sealPassingOver } from './passed-over.js';
import { setClocksBack, setClocksRight } from './past-clock.js';
import { documentedTable, documentTable, type Observation, rowsOf, tableOf } from './played-table.js';

/*
 * A dishonest operator acts on a real installation: the built service, its database, a witness, and
 * callers over HTTP. Each party looks with the standalone verifier at the files that it has. The
 * observations are the table of docs/threat-model.md; `UPDATE_PLAY=1 npm run test:exhaustive` writes it.
 */

const MINUTE = 60_000;
/** The first part of the story happens so long ago. */
const AGO = 30 * MINUTE;
const WITNESS = 'witness.example/w1';

const files = new Files();
const observations: Observation[] = [];
let main: OperatedInstallation;
/** The database after the first part, which the operator can restore. */
let backup: OperatedInstallation;
let witness: Witness;
let witnessKeys: readonly string[];
let auditor: AuditingWitness;
let caller: Caller;
let siteId: string;
const answers = new Map<string, Answer>();

const cleanUp: (() => Promise<unknown>)[] = [];

/** Runs the service of an installation for some work. */
async function whileServing<T>(
  operator: OperatedInstallation,
  role: 'serve' | 'api',
  work: (service: Awaited<ReturnType<typeof operator.installation.start>>) => Promise<T>,
): Promise<T> {
  const service = await operator.installation.start(role);
  try {
    return await work(service);
  } finally {
    await service.stop();
  }
}

const answer = (name: string): Answer => {
  const found = answers.get(name);
  if (found === undefined) throw new Error(`no answer ${name}`);
  return found;
};

/** Adds a row with what was found. */
function observe(act: string, who: string, from: string, when: string, found: string): void {
  observations.push({ act, who, from, when, found });
}

const REQUIRED_WITNESS = () => [...witnessKeys.flatMap((key) => ['--witness-key', key]), '--witnesses', '1'];
const watch = (url: string) => files.run('watch', url, '--ledger-key', 'ledger.vkey', '--state', 'watched', '--once');

/** Lets the auditing witness look at the structure that the installation of an act publishes. */
function auditOf(name: string, url: string): Audit {
  return auditor.look(url, auditor.remember(name));
}
const AUDITED = '`consent-verify watch --structure`';

/** An act that is no lie about the structure: what it recomputes is sound. */
function observeSound(act: string, ...audits: readonly Audit[]): void {
  for (const { status, stdout, isProved } of audits) {
    expect({ status, isProved }, stdout).toEqual({ status: 0, isProved: false });
    expect(stdout).toContain('the structure up to it was recomputed');
  }
  observe(act, 'the auditing witness', AUDITED, '-', '-');
}

/** Copies the installation, without its witness. The service must be stopped. */
async function copyOfMain(): Promise<OperatedInstallation> {
  const copy = await main.restoreElsewhere({ LOG_LEVEL: 'warn', SEAL_WITHIN_SECONDS: '60' });
  cleanUp.push(() => copy.remove());
  // The operator wants the copy to sign.
  await copy.installation.json('admin', 'ledger', 'adopt');
  return copy;
}

/** The finding of `consent-verify check`, as the table shows it. */
function verdictOf({ verdict, checks }: ReturnType<typeof files.check>): string {
  return [`${verdict}`, ...checks.map((id) => `\`${id}\``)].join(', ');
}

beforeAll(async () => {
  const port = await freePort();
  const created = files.run('witness', '--key-file', 'witness.key', '--new-key', WITNESS);
  witnessKeys = created.stdout.trim().split('\n');
  auditor = new AuditingWitness(files, await freePort());
  const environment = {
    WITNESS_URLS: `http://127.0.0.1:${port},${auditor.url}`,
    WITNESS_KEYS: [...witnessKeys, ...auditor.keys].join(','),
    SEAL_WITHIN_SECONDS: '60',
    LOG_LEVEL: 'warn',
  };
  main = await OperatedInstallation.make(environment);
  cleanUp.push(() => main.remove());
  const pastClock = await setClocksBack(main, files, AGO);
  const past = main.with(pastClock);
  await whileServing(past, 'serve', async (service) => {
    const seed = await seedTenant(past.installation, '--rate-limit', '100000');
    copyFileSync(seed.ledger_key, files.path('ledger.vkey'));
    copyFileSync(seed.tsa_ca, files.path('tsa.pem'));
    witness = await Witness.start(files, port, { env: pastClock });
    caller = new Caller(seed, -AGO);
    siteId = seed.site.id;
    for (const [name, visitor, decision] of [
      ['ada 1', 'ada', 'accepted'],
      ['ben 1', 'ben', 'accepted'],
      ['ada 2', 'ada', 'withdrawn'],
    ] as const)
      answers.set(name, await caller.record(service, visitor, decision));
    await past.export(siteId, files.path('site-before.zip'), '--wait');
    files.write('receipt-of-ada.json', await caller.receipt(service, answer('ada 2')));
    expect(watch(service.url).status).toBe(0);
    expect(auditor.look(service.url)).toMatchObject({ status: 0 });
  });
  backup = await main.restoreElsewhere(environment);
  cleanUp.push(() => backup.remove());

  // The operator stops the worker, takes a consent, and deletes it before the worker runs again.
  await whileServing(past, 'api', async (service) => {
    answers.set('cem 1', await caller.record(service, 'cem'));
  });
  files.write('answer-to-cem.json', JSON.stringify(answer('cem 1')));
  await main.sql(
    [
      `update event_log.streams s set next_revision = e.revision from event_log.events e where e.stream = s.number and e.id = $1`,
      eventIdOf(answer('cem 1')),
    ],
    [
      `delete from event_log.waiting w using event_log.events e where e.stream = w.stream and e.revision = w.revision and e.id = $1`,
      eventIdOf(answer('cem 1')),
    ],
    ['delete from event_log.events where id = $1', eventIdOf(answer('cem 1'))],
    ['delete from record_keys where event_id = $1', eventIdOf(answer('cem 1'))],
  );

  await witness.stop();
  await setClocksRight(main);
  witness = await Witness.start(files, port);
  caller = new Caller(caller.seed);
});

afterAll(async () => {
  await witness?.stop();
  for (const remove of cleanUp) await remove();
  files.remove();
});

test('a dropped record: the promise and a later package prove it', async () => {
  const act = '**Drop.** Deletes a promised record before it is sealed';
  const audit = await whileServing(main, 'serve', async (service) => {
    const auditing = await auditor.start(service.url, 'auditing');
    cleanUp.push(() => auditing.stop());
    answers.set('ada 3', await caller.record(service, 'ada'));
    answers.set('ben 2', await caller.record(service, 'ben'));
    files.write('answer-to-ben.json', JSON.stringify(answer('ben 2')));
    await main.export(siteId, files.path('site.zip'), '--wait');
    await expect
      .poll(async () => {
        await main.export(siteId, files.path('site.zip'), '--overwrite');
        const keys = [...witnessKeys, ...auditor.keys].flatMap((key) => ['--witness-key', key]);
        return files.check('site.zip', ...keys, '--witnesses', '2').verdict;
      })
      .toBe('valid');
    expect(watch(service.url).status).toBe(0);
    await main.export(siteId, files.path('ada.zip'), '--visitor', 'ada', '--disclose', 'none');
    files.write('receipt-of-ben.json', await caller.receipt(service, answer('ben 2')));

    const ready = z.object({ status: z.string() }).parse(await (await fetch(`${service.url}/readyz`)).json());
    expect(ready.status).toBe('ready');
    expect(await main.installation.json('admin', 'quarantine', 'list')).toMatchObject({ quarantined: [] });
    observe(act, 'the service', '`/readyz`, quarantine, sealer', '-', '-');
    expect(await caller.verify(service, answer('cem 1'))).toBe(404);
    observe(act, 'the caller', '`GET /tool/v1/consents/verify/<token>`', 'at once', '404, which proves nothing');
    await auditing.stop();
    return auditor.look(service.url);
  });
  const recipient = files.check('site.zip');
  expect(recipient.verdict).toBe('valid');
  observe(act, 'a recipient without the promise', 'package of the site', '-', '-');

  expect(files.run('promise', 'answer-to-cem.json', '--ledger-key', 'ledger.vkey').status).toBe(0);
  const early = files.check('site-before.zip', '--promise', 'answer-to-cem.json');
  expect(early).toMatchObject({ verdict: 'indeterminate', checks: ['promise.kept'], promises: ['overdue'] });
  const older = 'answer to the consent, a package from before';
  observe(act, 'the caller, or anyone with the answer', older, 'after the promised time', verdictOf(early));
  const late = files.check('site.zip', '--promise', 'answer-to-cem.json');
  expect(late).toMatchObject({ verdict: 'invalid', checks: ['promise.kept'], promises: ['broken'] });
  observe(
    act,
    'the caller, or anyone with the answer',
    'answer to the consent, package of the site',
    'with a batch sealed 300 s after the promised time',
    verdictOf(late),
  );
  expect(files.check('site.zip', '--promise', 'answer-to-ben.json').promises).toEqual(['kept']);
  observeSound(act, audit);
  // Under load the service asks the auditing witness several times, each time after a longer pause.
});

/** Removes records from the log, the ledger's leaves and every other table of a restored copy. */
async function removeFromTables(operator: OperatedInstallation, ids: readonly string[]): Promise<void> {
  await operator.sql(
    ['alter table event_log.events disable trigger kept_in_log'],
    ['delete from event_log.events where id = any($1::uuid[])', ids],
    ['delete from sealed_events where event_id = any($1::uuid[])', ids],
    ['delete from record_keys where event_id = any($1::uuid[])', ids],
  );
}

caseOf('acts of an operator')('a cut site: neither the exporter nor a verifier accepts it', async () => {
  const act = '**Cut a site.** Removes the newest records of a site, and exports the whole site';
  const newest = [eventIdOf(answer('ada 3')), eventIdOf(answer('ben 2'))];
  const copy = await copyOfMain();
  await removeFromTables(copy, newest);
  const started = await copy.installation.start();
  expect(await copy.installation.json('admin', 'quarantine', 'list')).toMatchObject({
    quarantined: [{ site_id: siteId, reason: expect.stringContaining('ends at revision 2, but revision 4') }],
  });
  const audit = auditOf('cut', started.url);
  const first = auditor.look(started.url, 'first-look-cut');
  expect(first, first.stdout).toMatchObject({ status: 3, isProved: false });
  expect(first.stdout).toContain('answered HTTP 500');
  await started.stop();
  observe(act, 'the service', 'outbox and log', 'at its next start', '`LogBehind`, quarantines the site');
  await expect(copy.export(siteId, files.path('none.zip'))).rejects.toThrow('are not those sealed');
  observe(act, 'the exporter of the service', 'log and ledger', 'at once', 'log and ledger differ, no package');

  files.write('cut.zip', await withoutRecords(main, files.path('site.zip'), newest));
  const cut = files.check('cut.zip');
  expect(cut).toMatchObject({ verdict: 'invalid', checks: ['completeness.runs'] });
  observe(act, 'a recipient', 'the package, of a changed exporter', 'at once', verdictOf(cut));

  const output = ['--ledger-key', 'ledger.vkey', '--output', 'cut.json'];
  expect(files.run('compare', 'cut.zip', 'receipt-of-ben.json', ...output).status).toBe(1);
  expect(files.run('check-contradiction', 'cut.json', '--ledger-key', 'ledger.vkey').status).toBe(0);
  observe(
    act,
    'the holder of a receipt of these records',
    'the package, the receipt',
    'at the first comparison',
    '`compare`: contradiction, confirmed by `check-contradiction`',
  );

  const old = files.check('site-before.zip');
  expect(old.verdict).toBe('valid');
  observe(act, 'a recipient', 'a package from before these records', '-', 'valid, as of its own, older time stamp');
  const aged = files.check('site-before.zip', '--max-age', '10m');
  expect(aged).toMatchObject({ verdict: 'indeterminate', checks: ['time.fresh'] });
  observe(act, 'a recipient that sets `--max-age`', 'the same package', 'after that age', verdictOf(aged));
  observeSound(act, audit);
  const withheld = 'undecided: the service does not serve what a header commits to';
  observe(act, 'an auditor without a past', AUDITED, 'at its first look', withheld);
});

caseOf('acts of an operator')('a shortened person: neither the exporter nor a verifier accepts it', async () => {
  const act = '**Shorten a person.** Removes a sealed record of a person, and exports the person';
  const audits: Audit[] = [];
  for (const name of ['ada 3', 'ada 2']) {
    const id = eventIdOf(answer(name));
    const copy = await copyOfMain();
    await removeFromTables(copy, [id]);
    await expect(copy.export(siteId, files.path('none.zip'), '--visitor', 'ada')).rejects.toThrow('sealed');
    files.write('short.zip', await withoutRecords(main, files.path('ada.zip'), [id]));
    expect(files.check('short.zip')).toMatchObject({ verdict: 'invalid', checks: ['completeness.person'] });
    audits.push(await whileServing(copy, 'api', async ({ url }) => auditOf(name, url)));
  }
  observe(act, 'the exporter of the service', 'log and ledger', 'at once', 'log and ledger differ, no package');
  observe(act, 'a recipient', 'the package, of a changed exporter', 'at once', verdictOf(files.check('short.zip')));
  observeSound(act, ...audits);
});

caseOf('acts of an operator')('a fork: another package, the witness and a monitor show it', async () => {
  const act = '**Fork.** Restores a backup, records other consents, and has them stamped';
  const head = join(backup.installation.dataDir, 'ledger-head.json');
  copyFileSync(join(main.installation.dataDir, 'ledger-head.json'), head);
  await expect(backup.installation.start()).rejects.toThrow('does not continue it');
  observe(act, 'the service', '`ledger-head.json`', 'at its next start', '`LedgerRolledBack`, it does not start');

  await setClocksRight(backup);
  rmSync(head);
  await expect(backup.installation.start()).rejects.toThrow('does not exist');
  observe(act, 'the service', 'the missing file', 'at its next start', '`LedgerHeadMissing`, it does not start');
  await backup.installation.json('admin', 'ledger', 'adopt');
  const before = witness.lines.length;
  await expect(backup.installation.start()).rejects.toThrow(WITNESS);
  observe(act, 'the service', 'the witness that it asks', 'at its next start', '`LedgerRolledBack`, it does not start');
  expect(witness.lines.slice(before).filter((line) => line.includes('cosigned'))).toEqual([]);

  // The operator leaves the witness out.
  let audit: Audit | undefined;
  const unseen = backup.with({ WITNESS_URLS: '', WITNESS_KEYS: '' });
  await whileServing(unseen, 'serve', async (service) => {
    await caller.record(service, 'dora');
    await unseen.export(siteId, files.path('fork.zip'), '--wait');
    // A fork that is shorter than what was audited shows nothing yet. The operator lets it grow.
    const state = auditor.remember('fork');
    audit = auditor.look(service.url, state);
    for (let more = 1; audit.status === 3 && more < 10; more += 1) {
      await caller.record(service, `dora ${more}`);
      await unseen.export(siteId, files.path('longer.zip'), '--wait', '--overwrite');
      audit = auditor.look(service.url, state);
    }
    // A checkpoint of the size that the monitor knows contradicts it; a larger one has no proof.
    const { status, stdout } = watch(service.url);
    expect([1, 3]).toContain(status);
    expect(stdout).toMatch(/CONTRADICTION|UNDECIDED: checkpoint \d+ is not shown to extend checkpoint/);
  });

  const alone = files.check('fork.zip');
  expect(alone.verdict).toBe('valid');
  observe(act, 'a recipient with one package', 'either package', '-', 'valid');
  const required = files.check('fork.zip', ...REQUIRED_WITNESS());
  expect(required).toMatchObject({ verdict: 'indeterminate', checks: ['ledger.witnesses'] });
  expect(files.check('site.zip', ...REQUIRED_WITNESS()).verdict).toBe('valid');
  observe(act, 'the witness', 'the submitted checkpoint', 'at once', 'names the longer ledger, and cosigns nothing');
  observe(act, 'a recipient that requires the witness', 'the package of the fork', 'at once', verdictOf(required));
  const compared = files.run('compare', 'site.zip', 'fork.zip', '--ledger-key', 'ledger.vkey', '--output', 'fork.json');
  expect(compared.status).toBe(1);
  const confirmed = files.run('check-contradiction', 'fork.json', '--ledger-key', 'ledger.vkey');
  expect(confirmed.status).toBe(0);
  observe(
    act,
    'two recipients',
    'both packages',
    'at the first comparison',
    '`compare`: contradiction, confirmed by `check-contradiction`',
  );
  observe(
    act,
    'a monitor',
    '`consent-verify watch`',
    'at its next look',
    'contradiction, or undecided: not shown to extend what it knows',
  );
  expect(audit).toMatchObject({ status: 1, isProved: true });
  observe(
    act,
    'the auditing witness',
    AUDITED,
    'at its next look, when the fork is as long as what it audited',
    'contradiction, confirmed by `check-contradiction`',
  );
});

caseOf('acts of an operator')(
  'a backdated record: an altered one is quarantined, and a genuine one stays open',
  async () => {
    const act = '**Backdate.** Gives a record an earlier time before it is sealed';
    const altered = await copyOfMain();
    await whileServing(altered, 'api', (service) => caller.record(service, 'eve'));
    await altered.sql(
      ['alter table event_log.events disable trigger append_only'],
      [
        `update event_log.events e set data = convert_to(replace(convert_from(data, 'UTF8'), '"created_at\\":\\"20', '"created_at\\":\\"19'), 'UTF8')
          from event_log.waiting w where e.stream = w.stream and e.revision >= w.revision`,
      ],
    );
    await whileServing(altered, 'serve', async () => {
      await expect
        .poll(() => altered.installation.json('admin', 'quarantine', 'list'))
        .toMatchObject({ quarantined: [{ site_id: siteId }] });
    });
    observe(act, 'the relay', 'proof hash, without the key', 'at once', 'quarantines the site');

    const keyed = await copyOfMain();
    await insertBackdated(keyed, caller, 20 * MINUTE);
    const audit = await whileServing(keyed, 'serve', async ({ url }) => {
      await keyed.export(siteId, files.path('backdated.zip'), '--wait');
      return auditOf('backdated', url);
    });
    const backdated = files.check('backdated.zip');
    expect(backdated).toMatchObject({ verdict: 'indeterminate', checks: ['time.claimed'] });
    observe(act, 'the service', 'proof hash by the real key', '-', '-');
    observe(act, 'every recipient', 'a package with the record', 'at once', verdictOf(backdated));
    observeSound(act, audit);
  },
);

caseOf('acts of an operator')('a policy that is loosened first', async () => {
  const act = '**Backdate under a new policy.** Publishes a longer delay first';
  const loose = (await copyOfMain()).with({ SEAL_WITHIN_SECONDS: '172800' });
  await whileServing(loose, 'serve', async (service) => {
    await caller.record(service, 'fay');
    await loose.export(siteId, files.path('loosened.zip'), '--wait');
  });
  const honest = files.check('loosened.zip');
  expect(honest).toMatchObject({ verdict: 'valid', report: { policy: { number: 2, seal_within_seconds: 172_800 } } });
  await insertBackdated(loose, caller, 20 * MINUTE);
  const audit = await whileServing(loose, 'serve', async ({ url }) => {
    await loose.export(siteId, files.path('loose.zip'), '--wait');
    await loose.export(siteId, files.path('record.zip'), '--visitor', 'visitor-0');
    return auditOf('loose', url);
  });
  for (const [who, name] of [
    ['a recipient of the whole site', 'loose.zip'],
    ['a recipient of this record', 'record.zip'],
  ] as const) {
    const found = files.check(name);
    expect(found).toMatchObject({ verdict: 'indeterminate', checks: ['time.claimed'] });
    observe(act, who, 'the package', 'at once', verdictOf(found));
  }
  observeSound(act, audit);
});

caseOf('acts of an operator')('a person with a second id: another file with the hidden record proves it', async () => {
  const act = "**Hide a person's past.** Gives the person a new id before the next record is sealed";
  const copy = await copyOfMain();
  await copy.sql(['delete from persons']);
  const audit = await whileServing(copy, 'serve', async (service) => {
    answers.set('ada 4', await caller.record(service, 'ada'));
    await copy.export(siteId, files.path('second-id.zip'), '--wait', '--visitor', 'ada', '--disclose', 'visitor_id');
    await copy.export(siteId, files.path('site-with-visitors.zip'), '--disclose', 'visitor_id');
    await expect(caller.receipt(service, answer('ada 2'))).rejects.toThrow('500');
    return auditOf('hidden', service.url);
  });
  const second = files.check('second-id.zip');
  expect(second).toMatchObject({ verdict: 'invalid', checks: ['manifest.filter'] });
  observe(act, 'a recipient', 'the package for the person, of the real exporter', 'at once', verdictOf(second));
  const past = [...answers].flatMap(([name, given]) => (/^ada [123]$/.test(name) ? [eventIdOf(given)] : []));
  files.write('hidden.zip', await withoutRecords(copy, files.path('second-id.zip'), past));
  const hidden = files.check('hidden.zip');
  expect(hidden).toMatchObject({ verdict: 'valid', report: { records: { consents: 1 } } });
  observe(act, 'a recipient', 'the package for the person, of a changed exporter', '-', verdictOf(hidden));
  const comparedWith = (other: string) => files.run('compare', 'hidden.zip', other, '--ledger-key', 'ledger.vkey');
  const early = comparedWith('receipt-of-ada.json');
  expect({ status: early.status, stdout: early.stdout.split(':')[0] }).toEqual({ status: 3, stdout: 'UNDECIDED' });
  observe(
    act,
    'the person',
    'this package, an earlier receipt',
    '-',
    '`compare`: undecided, an erasure could explain it',
  );
  const proved = comparedWith('site-with-visitors.zip');
  expect(proved.status).toBe(1);
  expect(proved.stdout).toContain('gave one visitor two ids');
  const both = 'this package, a package of the site that discloses `visitor_id`';
  observe(act, 'the site', both, 'at the first comparison', '`compare`: contradiction');
  observeSound(act, audit);
});

caseOf('acts of an operator')(
  'a consent that the sealer passes over: the auditing witness proves it without a package',
  async () => {
    const act = '**Pass over.** Seals the records of a site after a promised one, which the ledger never has';
    const copy = await copyOfMain();
    // The sealer of the service waits, so that that of the operator is first.
    await whileServing(copy.with({ BATCH_MAX_AGE_MS: '20000' }), 'serve', async (service) => {
      answers.set('gil 1', await caller.record(service, 'gil'));
      answers.set('hal 1', await caller.record(service, 'hal'));
      const relayed = `select 1 from event_log.logged_streams l, event_log.events e
                        where l.stream = 'consents-' || $1 and e.id = $2 and l.revision >= e.revision`;
      await expect.poll(() => copy.sql([relayed, siteId, eventIdOf(answer('hal 1'))])).toHaveLength(1);
    });
    await sealPassingOver(copy, siteId);
    const cosigned = copy.with({ WITNESS_URLS: auditor.url, WITNESS_KEYS: auditor.keys.join(',') });
    const state = auditor.remember('passed-over');
    await whileServing(cosigned, 'serve', async (service) => {
      const refusing = await auditor.start(service.url, 'refusing');
      cleanUp.push(() => refusing.stop());
      const found = expect.objectContaining({ status: 1, isProved: true });
      await expect.poll(() => auditor.look(service.url, state)).toEqual(found);
      await expect.poll(() => auditor.hasRefused('refusing')).toBe(true);
      await refusing.stop();
      expect(refusing.lines.filter((line) => line.includes('cosigned'))).toEqual([]);

      const ready = async () => (await fetch(`${service.url}/readyz`)).json();
      await expect.poll(ready).toMatchObject({ status: 'ready' });
      expect(await copy.installation.json('admin', 'quarantine', 'list')).toMatchObject({ quarantined: [] });
      await expect(copy.export(siteId, files.path('none.zip'))).rejects.toThrow('is not sealed');
      await copy.export(siteId, files.path('gil.zip'), '--visitor', 'gil');
    });
    observe(act, 'the service', '`/readyz`, quarantine, sealer', '-', '-');
    observe(act, 'the exporter of the service', 'log and ledger', 'at once', 'a record is not sealed, no package');
    const passedOver = files.check('gil.zip');
    expect(passedOver).toMatchObject({ verdict: 'invalid', report: { records: { consents: 0 } } });
    expect(passedOver.checks).toContain('completeness.runs');
    observe(act, 'the person', 'the package for the person', 'at once', 'invalid, `completeness.runs`');
    const proved = 'contradiction, confirmed by `check-contradiction`';
    observe(act, 'the auditing witness', AUDITED, 'at its next look', proved);
    const submitted = 'the submitted checkpoint, `consent-verify witness --structure`';
    observe(act, 'the auditing witness', submitted, 'at once', 'the same proof, and cosigns nothing');
  },
);

test('the observations are the documented ones', () => {
  const table = tableOf(observations);
  if (process.env.UPDATE_PLAY === '1') documentTable(table);
  const documented = documentedTable();
  if (isExhaustive()) expect(documented).toBe(table);
  for (const act of new Set(observations.map((one) => one.act))) {
    expect(documented).toContain(rowsOf(observations.filter((one) => one.act === act)));
  }
});
