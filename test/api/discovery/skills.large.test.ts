import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { PublicVerifyResponse, VerifyResponse } from '../../../schemas/api/verify.js';
import { SignedPromise } from '../../../schemas/evidence/promise.js';
import { ConsentLedger } from '../../../sdk/node/src/index.js';
import { titleNeeding } from '../../support/missing-tools.js';
import { runCommands } from '../../support/run-program.js';
import { type RunningService, TestInstallation } from '../../support/running-service.js';
import { codeBlocks, parseSkill, SkillsIndex } from './formats/agent-skills.js';

const hasPython = spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 9))']).status === 0;
const COMMANDS = fileURLToPath(new URL('../../../node_modules/.bin', import.meta.url));

const Seeded = z.object({
  keys: z.object({ read: z.string(), write: z.string() }),
  api_user: z.object({ email: z.string(), password: z.string() }),
  site: z.object({ id: z.string() }),
  tsa_ca: z.string(),
  ledger_key: z.string(),
});
const Shown = z.looseObject({
  version: z.uuid(),
  language: z.string(),
  content: z.string(),
  categories: z.array(z.looseObject({ key: z.string() })).optional(),
});
const Accepted = z.strictObject({
  consent_token: z.string(),
  proof_hash: z.string(),
  created_at: z.string(),
  duplicate: z.boolean(),
  promise: SignedPromise,
});

/** Follows the instructions of the skills, with the very texts that the built service serves. */
describe('the skills', () => {
  let installation: TestInstallation;
  let service: RunningService;
  let seeded: z.infer<typeof Seeded>;
  let folder: string;
  beforeAll(async () => {
    installation = await TestInstallation.make();
    service = await installation.start();
    seeded = Seeded.parse(await installation.json('admin', 'seed-demo'));
    folder = await mkdtemp(join(tmpdir(), 'consent-ledger-skills-'));
  });
  afterAll(async () => {
    await service.stop();
    await installation.remove();
    await rm(folder, { recursive: true, force: true });
  });

  const skill = async (name: string): Promise<string> => {
    const index = SkillsIndex.parse(await (await fetch(`${service.url}/.well-known/agent-skills/index.json`)).json());
    const entry = index.skills.find((each) => each.name === name);
    if (entry === undefined) throw new Error(`there is no skill ${name}`);
    return parseSkill(await (await fetch(new URL(entry.url, service.url))).text()).body;
  };

  /** Runs a skill's commands as a reader would, in one shell. */
  const run = (commands: string, env: Readonly<Record<string, string>>) =>
    runCommands(commands, {
      cwd: folder,
      env: { PATH: `${COMMANDS}:${process.env.PATH}`, CONSENT_LEDGER_URL: service.url, ...env },
    });

  const asAgent = async (commands: string, key: string) =>
    run(commands, {
      CONSENT_LEDGER_KEY: key,
      CONSENT_LEDGER_USER: seeded.api_user.email,
      CONSENT_LEDGER_PASSWORD: seeded.api_user.password,
    });

  it.skipIf(!hasPython)(
    titleNeeding('Python 3.9', hasPython, 'record a consent, then verify it, then check a package that holds it'),
    async () => {
      const recording = await skill('record-a-consent');
      const [program = ''] = codeBlocks(recording, 'python');
      await writeFile(join(folder, 'record_consent.py'), program);
      const [show = '', record = '', approve = ''] = codeBlocks(recording, 'sh');
      const { read, write } = seeded.keys;
      const shown = async (command: string) => Shown.parse(JSON.parse((await asAgent(command, write)).stdout));
      const policy = await shown(show);
      expect(policy).toMatchObject({ language: 'en', content: expect.stringContaining('cookies') });
      expect(policy.categories?.map(({ key }) => key)).toEqual(['necessary', 'analytics', 'marketing']);
      const choose = record.trim().replace('VERSION', policy.version);
      const first = await asAgent(choose, write);
      expect(first).toMatchObject({ exitCode: 0, stderr: '' });
      const accepted = Accepted.parse(JSON.parse(first.stdout));
      expect(accepted.duplicate).toBe(false);
      const again = await asAgent(choose, write);
      expect(Accepted.parse(JSON.parse(again.stdout))).toEqual({ ...accepted, duplicate: true });

      // A decision that the person did not make, or a text that the person could not read, is not
      // recorded.
      const otherwise = (from: string, to: string) =>
        choose.replace('banner-4711-1', 'banner-4711-2').replace(from, to);
      const refusals = [
        [otherwise('', ''), read, /^refused with 403 INSUFFICIENT_SCOPE: /],
        [otherwise('"analytics"', '"statistics"'), write, /^the site has no category statistics: /],
        [otherwise('partial', 'rejected').replace('false', 'true'), write, /^refused with 422 INVALID_CATEGORIES: /],
        [otherwise('visitor-4711', `'${'v'.repeat(101)}'`), write, /^refused with 422 .*\n {2}visitor_id: /],
        [`${choose} --language tr`, write, /^this version is not in force in this language: /],
      ] as const;
      for (const [command, key, reason] of refusals) {
        const refused = await asAgent(command, key);
        expect(refused).toMatchObject({ exitCode: 1, stdout: '' });
        expect(refused.stderr).toMatch(reason);
      }

      const form = await shown(show.replace('cookie-policy', 'explicit-consent'));
      const approval = approve.replace('VERSION', form.version);
      const approved = Accepted.parse(JSON.parse((await asAgent(approval, write)).stdout));
      // The token of the retry is another one, and the record the same.
      expect(Accepted.parse(JSON.parse((await asAgent(approval, write)).stdout))).toMatchObject({
        consent_token: approved.consent_token,
        duplicate: true,
      });

      // The address of the agent is no evidence about the person.
      const { api_user: user, keys } = seeded;
      const ledger = new ConsentLedger({ baseUrl: service.url, apiKey: keys.read, user });
      const records = [];
      for await (const one of ledger.exportRecords({ visitor_id: 'visitor-4711' })) records.push(one);
      const nothing = { channel: 's2s', ip_address: null, user_agent: null, source: 'server' };
      expect(records).toMatchObject([
        { ...nothing, consent_type: 'cookie', decision: 'partial', language: 'en' },
        { ...nothing, consent_type: 'document_approval', identity_assurance: 'tenant_attested' },
      ]);

      const [openly = '', withKey = ''] = codeBlocks(await skill('verify-a-record'), 'sh');
      const env = { RECORD: accepted.consent_token, CONSENT_LEDGER_KEY: seeded.keys.read };
      const askOpenly = async () => PublicVerifyResponse.parse(JSON.parse((await run(openly, env)).stdout));
      await expect.poll(async () => (await askOpenly()).data.is_tsa_stamped, { interval: 500 }).toBe(true);
      expect(await askOpenly()).toMatchObject({
        valid: true,
        source: 'server',
        data: { hash_valid: true, merkle_valid: true, is_anonymized: false, decision: 'partial' },
      });
      const keyed = VerifyResponse.parse(JSON.parse((await run(withKey, env)).stdout));
      expect(keyed).toMatchObject({ valid: true, data: { proof_hash: accepted.proof_hash, is_tsa_stamped: true } });

      const packagePath = join(folder, 'package.zip');
      await installation.json('evidence', 'export', '--site', seeded.site.id, '--output', packagePath);
      const [check = '', certify = '', byHand = ''] = codeBlocks(await skill('check-a-package'), 'sh');
      const trust = { TSA_CA: seeded.tsa_ca, LEDGER_KEY: seeded.ledger_key };
      const checked = await run(check, { ...trust, PACKAGE: packagePath });
      expect(checked, checked.stderr).toMatchObject({ exitCode: 0 });
      const certificate = await run(certify, { ...trust, PACKAGE: packagePath });
      expect(certificate, certificate.stderr).toMatchObject({ exitCode: 0 });
      expect(certificate.stdout).toMatch(
        new RegExp(`^VALID, BUT NOT EVIDENCE, as of .*: ${accepted.consent_token}`, 'm'),
      );
      const confirmed = await run(byHand, { ...trust, PACKAGE: packagePath });
      expect(confirmed, confirmed.stderr).toMatchObject({ exitCode: 0 });
      expect(confirmed.stdout).toMatch(/Verification: OK\n(?:.*\n)*Time stamp: /);

      const published = await (await fetch(`${service.url}/checkpoints/ledger.vkey`)).text();
      expect(published).toBe(await readFile(seeded.ledger_key, 'utf8'));
      const bytes = await readFile(packagePath);
      const altered = join(folder, 'altered.zip');
      // A byte of the compressed README.txt, whatever it says.
      await writeFile(altered, bytes.with(200, (bytes[200] ?? 0) ^ 1));
      await writeFile(join(folder, 'nothing.zip'), 'no ZIP');
      await writeFile(join(folder, 'no-key'), '');
      const exitCode = async (env: Readonly<Record<string, string>>) =>
        (await run(check, { ...trust, PACKAGE: packagePath, ...env })).exitCode;
      expect(await exitCode({ PACKAGE: altered })).toBe(1);
      expect(await exitCode({ PACKAGE: join(folder, 'nothing.zip') })).toBe(2);
      const unnamed = check.replace(' --ledger-key "$LEDGER_KEY"', '');
      expect((await run(unnamed, { ...trust, PACKAGE: packagePath })).exitCode).toBe(3);
    },
  );
});
