import { parse } from 'yaml';
import * as z from 'zod';
import { sha256Hex } from '../../../schemas/crypto/digest.js';
import type { JsonObject } from '../../../schemas/json/json-value.js';
import type { UrlOf } from './places.js';
import { CHECK_A_PACKAGE } from './skills/check-a-package.js';
import { PUT_THE_BANNER_ON_A_PAGE } from './skills/put-the-banner-on-a-page.js';
import { RECEIVE_WEBHOOKS } from './skills/receive-webhooks.js';
import { RECORD_A_CONSENT } from './skills/record-a-consent.js';
import { SET_A_SITE_UP } from './skills/set-a-site-up.js';
import { VERIFY_A_RECORD } from './skills/verify-a-record.js';

/** A skill: instructions for agents, in the format of agentskills.io. */
export interface Skill {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** The whole SKILL.md. */
  readonly text: string;
  readonly path: string;
}

const INDEX_SCHEMA = 'https://schemas.agentskills.io/discovery/0.2.0/schema.json';

/** agentskills.io, "Frontmatter"; the title is in its free `metadata`. */
const Frontmatter = z.strictObject({
  name: z.string().regex(/^(?=.{1,64}$)[a-z0-9]+(?:-[a-z0-9]+)*$/),
  description: z.string().min(1).max(1024),
  license: z.string(),
  compatibility: z.string().min(1).max(500),
  metadata: z.strictObject({ title: z.string() }),
});

/** The skills that the service publishes. */
export function agentSkills(): readonly Skill[] {
  return [
    SET_A_SITE_UP,
    PUT_THE_BANNER_ON_A_PAGE,
    RECEIVE_WEBHOOKS,
    RECORD_A_CONSENT,
    VERIFY_A_RECORD,
    CHECK_A_PACKAGE,
  ].map(skillOf);
}

function skillOf(text: string): Skill {
  const [, frontmatter = ''] = /^---\n(.*?)\n---\n/s.exec(text) ?? [];
  const { name, description, metadata } = Frontmatter.parse(parse(frontmatter));
  return { name, title: metadata.title, description, text, path: `/.well-known/agent-skills/${name}/SKILL.md` };
}

/**
 * The index of the skills: Agent Skills Discovery 0.2.0, "Index Format". Digests are those of the
 * served bytes.
 */
export function agentSkillsIndex(skills: readonly Skill[], urlOf: UrlOf): JsonObject {
  return {
    $schema: INDEX_SCHEMA,
    skills: skills.map(({ name, description, text, path }) => ({
      name,
      type: 'skill-md',
      description,
      url: urlOf(path),
      digest: `sha256:${sha256Hex(text)}`,
    })),
  };
}
