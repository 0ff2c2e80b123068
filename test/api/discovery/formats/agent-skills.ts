import { parse } from 'yaml';
import * as z from 'zod';
import { UriReference } from './linkset.js';

/** agentskills.io, "name field" */
const SkillName = z.string().regex(/^(?=.{1,64}$)[a-z0-9]+(-[a-z0-9]+)*$/);
const Description = z.string().min(1).max(1024);

/** Agent Skills Discovery 0.2.0, "Index Format" */
export const SkillsIndex = z.strictObject({
  $schema: z.literal('https://schemas.agentskills.io/discovery/0.2.0/schema.json'),
  skills: z
    .array(
      z.strictObject({
        name: SkillName,
        type: z.enum(['skill-md', 'archive']),
        description: Description,
        url: UriReference,
        digest: z.string().regex(/^sha256:[0-9a-f]{64}$/),
      }),
    )
    .min(1),
});

/** agentskills.io, "Frontmatter" */
const Frontmatter = z.strictObject({
  name: SkillName,
  description: Description,
  license: z.string().optional(),
  compatibility: z.string().min(1).max(500).optional(),
  metadata: z.record(z.string(), z.string()).optional(),
  'allowed-tools': z.union([z.string(), z.array(z.string())]).optional(),
});

/**
 * A SKILL.md: frontmatter, then instructions, below the 500 lines that the format recommends.
 * @throws if it is none
 */
export function parseSkill(text: string): { readonly frontmatter: z.infer<typeof Frontmatter>; readonly body: string } {
  const [, frontmatter, body = ''] = /^---\n(.*?)\n---\n(.*)$/s.exec(text) ?? [];
  if (frontmatter === undefined) throw new Error('there is no frontmatter');
  if (body.trim() === '') throw new Error('there are no instructions');
  if (text.split('\n').length > 500) throw new Error('more than 500 lines');
  return { frontmatter: Frontmatter.parse(parse(frontmatter)), body };
}

/** The code blocks of a language, in order. */
export function codeBlocks(body: string, language: string): readonly string[] {
  return [...body.matchAll(/^~~~(\w+)\n(.*?)^~~~$/gms)]
    .filter(([, name]) => name === language)
    .map(([, , code = '']) => code);
}
