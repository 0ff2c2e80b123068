import { resolve } from 'node:path';
import { counted } from '../../schemas/text/counted.js';
import { recordExample } from '../demo/seed/consents.js';
import { seedDemo } from '../demo/seed/seed-demo.js';
import { type Environment, variables } from '../platform/config/index.js';
import { type Example, readExample, writeExample } from '../platform/files.js';
import { isLoopback } from '../platform/net/reach.js';
import { CommandError, EXIT } from './command/command.js';
import { type CliContext, configOf, withInstallation } from './command/context.js';

const FOLDER = 'data-example';
/** Where development servers listen. */
const OWN_PAGES = ['localhost', '127.0.0.1'].flatMap((host) => [3000, 5173].map((port) => `http://${host}:${port}`));
/**
 * Variables that an example may take from the environment. It must never reach a real installation: neither its ledger,
 * which cannot forget anything, nor its erasure journal, keys or name.
 */
const ALLOWED: ReadonlySet<string> = new Set([
  ...['HOST', 'PORT', 'API_PROCESSES', 'LOG_LEVEL', 'LOG_FORMAT', 'CHROME_PATH', 'LAME_DUCK_MS', 'DRAIN_GRACE_MS'],
  ...['BATCH_MAX_AGE_MS', 'STAMP_INTERVAL_MS', 'GEO_DATABASE_FILE'],
]);

/**
 * The environment of an example: the embedded parts on loopback, with a data folder of its own.
 * @throws CommandError if a variable leads elsewhere
 */
export function exampleEnvironment(env: Environment): Environment {
  const set = Object.keys(variables.shape).filter((name) => !ALLOWED.has(name) && (env[name] ?? '').trim() !== '');
  if (set.length > 0)
    throw new CommandError(
      `--example keeps its records in ${FOLDER}, apart from every other installation. Unset ${set.join(', ')}.`,
      EXIT.usage,
    );
  if (!isLoopback(env.HOST ?? '127.0.0.1'))
    throw new CommandError('--example serves this machine only. Unset HOST, or set it to 127.0.0.1.', EXIT.usage);
  return { ...env, DATA_DIR: resolve(FOLDER) };
}

/**
 * Creates the example tenant in a running service, unless it exists, and records its first decisions.
 * @param context a context with the environment of `exampleEnvironment`
 * @param url URL of the service
 */
export async function makeExample(context: CliContext, url: string): Promise<Example> {
  const { dataDir } = configOf(context);
  const known = await readExample(dataDir);
  const example = known ?? (await seedExample(context, dataDir, url));
  if (example.isRecorded || example.url !== url) return example;
  context.stderr.write('Recording decisions of visitors who do not exist, once; this takes about ten seconds.\n');
  // After an interruption this runs again. Thanks to the idempotency keys, each decision is recorded once.
  const count = await recordExample(url, example.keys);
  const whole = { ...example, isRecorded: true };
  await writeExample(dataDir, whole);
  context.stderr.write(`Recorded ${counted(count, 'decision')} of visitors who do not exist.\n`);
  return whole;
}

async function seedExample(context: CliContext, dataDir: string, url: string): Promise<Example> {
  return withInstallation(context, async ({ adminPool }) => {
    const seeded = await seedDemo(adminPool, {
      rateLimit: 100_000,
      hasSubscription: true,
      isVerified: true,
      // The rules about origins apply as usual: the page of this service, and pages that a developer tries on this machine.
      allowedOrigins: [url, ...OWN_PAGES],
      allowedIps: [],
      names: { tenant: 'Example', site: 'Demonstration Shop (nothing here is real)', domain: 'shop.example' },
    });
    const { site, keys, panel_user: user } = seeded;
    const example = { url, domain: site.domain, keys, user, isRecorded: false };
    await writeExample(dataDir, example);
    return example;
  });
}

/** Returns the lines that tell a person what to do first. @param url current URL of the service */
export function exampleLines({ url: made, user, keys }: Example, url: string): readonly string[] {
  return [
    '',
    `This is an example: nothing in ${FOLDER} is real.`,
    `  A page with the banner   ${url}/try`,
    `  The dashboard            ${url}/panel`,
    `    user                   ${user.email}`,
    `    password               ${user.password}`,
    '  On a page of your own, at http://localhost:3000 or :5173',
    `    <script src="${url}/sdk/consent.js" data-api-key="${keys.write}"></script>`,
    `  Commands                 DATA_DIR=${FOLDER} npx consent-ledger admin --help`,
    ...(made === url
      ? []
      : [
          `The example was made for ${made}, and its banner works only there. Start it with PORT=${new URL(made).port}.`,
        ]),
    `Stop it with Ctrl-C. To start over, delete ${FOLDER}; if root started it, also the database folder that its embedded.json names.`,
  ];
}
