import type * as z from 'zod';
import { CheckpointsResponse } from '../../../schemas/api/checkpoints.js';
import { SkillsIndex } from './formats/agent-skills.js';
import { AiCatalog } from './formats/ai-catalog.js';
import { parseLinkHeader } from './formats/link-header.js';
import { Linkset } from './formats/linkset.js';
import { parseLlmsTxt } from './formats/llms-txt.js';

/** A URL that a document names, and the media type that it says is there; null if it says none. */
export interface NamedUrl {
  readonly url: string;
  readonly type: string | null;
}

/**
 * The draft of the AI Catalog wants skills to be served as the type of their entry; Agent Skills
 * Discovery says that they MUST be text/markdown or text/plain.
 */
const SERVED_AS: Readonly<Record<string, string>> = { 'application/agent-skills+md': 'text/markdown' };

const named = (url: string, type: string | null = null): NamedUrl => ({ url, type });

/** The extractors by media type, and for plain text by path. */
export function urlsNamedBy(path: string, response: Response, text: string): readonly NamedUrl[] {
  return [...urlsOfHeaders(response), ...urlsOfBody(path, response.headers.get('content-type') ?? '', text)];
}

function urlsOfHeaders(response: Response): readonly NamedUrl[] {
  const link = response.headers.get('link');
  if (link === null) return [];
  return parseLinkHeader(link).map(({ target, parameters }) => named(target, parameters.type ?? null));
}

function urlsOfBody(path: string, contentType: string, text: string): readonly NamedUrl[] {
  const json = (): unknown => JSON.parse(text);
  if (contentType.startsWith('application/linkset+json')) return urlsOfLinkset(Linkset.parse(json()));
  if (contentType.startsWith('application/ai-catalog+json')) {
    const { host, entries } = AiCatalog.parse(json());
    return [
      ...(host.documentationUrl === undefined ? [] : [named(host.documentationUrl)]),
      ...entries.map(({ url = '', type }) => named(url, SERVED_AS[type] ?? type)),
    ];
  }
  if (path === '/.well-known/agent-skills/index.json') {
    return SkillsIndex.parse(json()).skills.map(({ url }) => named(url, 'text/markdown'));
  }
  if (path === '/llms.txt') return parseLlmsTxt(text).links.map(({ url }) => named(url));
  if (path === '/.well-known/security.txt') {
    return [...text.matchAll(/^Canonical: (.*)$/gm)].map(([, url = '']) => named(url, 'text/plain'));
  }
  if (path === '/checkpoints/') {
    return CheckpointsResponse.parse(json()).data.checkpoints.flatMap(({ note, tokens }) => [
      named(note, 'text/plain'),
      ...tokens.map((token) => named(token, 'application/timestamp-reply')),
    ]);
  }
  // Links of pages and skills, and paths that skills name.
  if (contentType.startsWith('text/markdown')) {
    const code = /^(?:```|~~~)[\s\S]*?^(?:```|~~~)$/gm;
    const links = [...text.replace(code, '').matchAll(/\]\(([^()\s]+)\)/g)]
      .map(([, target = '']) => target)
      .filter((target) => !/^(?:#|https?:)/.test(target))
      .map((target) => new URL(target, `https://service${path}`).pathname);
    const paths = path.startsWith('/docs/') ? [] : [...text.matchAll(/`(\/(?:openapi|verify|checkpoints)[^`{}]*)`/g)];
    return [...links, ...paths.map(([, url = '']) => url)].map((url) => named(url));
  }
  return [];
}

function urlsOfLinkset({ linkset }: z.infer<typeof Linkset>): readonly NamedUrl[] {
  return linkset.flatMap(({ anchor, ...relations }) => [
    ...(anchor === undefined ? [] : [named(anchor)]),
    ...Object.values(relations)
      .flat()
      .map(({ href, type }) => named(href, type ?? null)),
  ]);
}
