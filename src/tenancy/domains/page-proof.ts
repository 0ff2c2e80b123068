import { type DomainChallenges, FILE_PATH, type PageProofKind } from './challenges.js';
import type { FetchedPage, FetchPage } from './fetch-page.js';
import { headMetas } from './head-metas.js';

/** Result of a look at the page that proves a domain. */
export interface ProofLook {
  /**
   * `found`: the page proves the domain. `missing`: the server answered something else. `unreached`: nothing answered
   * as a server with a valid certificate does, which can also be due to the service's own network.
   */
  readonly outcome: 'found' | 'missing' | 'unreached';
  /** What was looked for, where, and what was found instead: one sentence. Empty if it was found. */
  readonly message: string;
}

/** Looks at the page that proves a domain. Never rejects, unless `signal` aborts. */
export type LookForProof = (
  kind: PageProofKind,
  domain: string,
  challenges: DomainChallenges,
  signal?: AbortSignal,
) => Promise<ProofLook>;

/** More than the file needs, so that spaces and line ends may follow. */
const MAX_FILE_BYTES = 1_024;
const MAX_PAGE_BYTES = 256 * 1024;

export function createLookForProof(fetchPage: FetchPage): LookForProof {
  return async (kind, domain, challenges, signal) => {
    const [path, maxBytes] = kind === 'file' ? [FILE_PATH, MAX_FILE_BYTES] : ['/', MAX_PAGE_BYTES];
    const page = await fetchPage(domain, path, maxBytes, signal);
    const reason =
      page.kind === 'page'
        ? kind === 'file'
          ? fileProblem(page, challenges.file)
          : pageProblem(page, challenges.meta)
        : page.reason;
    if (reason === null) return { outcome: 'found', message: '' };
    return {
      outcome: page.kind === 'unreached' ? 'unreached' : 'missing',
      message: `${wanted(kind, challenges)} was looked for, but ${reason}.`,
    };
  };
}

function wanted(kind: PageProofKind, { file, meta }: DomainChallenges): string {
  return kind === 'file'
    ? `The file ${file.url} with the text ${file.content}`
    : `The tag ${meta.tag} in the head of ${meta.url}`;
}

/** The text must be the whole file: a page that repeats what a visitor sends contains more. */
function fileProblem({ text, isWhole }: FetchedPage, { content }: DomainChallenges['file']): string | null {
  const found = text.replace(/^\u00ef\u00bb\u00bf/, '').trim();
  if (isWhole && found === content) return null;
  return found === '' ? 'the file is empty' : 'the file has another text';
}

function pageProblem({ mediaType, text }: FetchedPage, { name, content }: DomainChallenges['meta']): string | null {
  if (mediaType !== 'text/html') return 'the answer is not a page of the type text/html';
  const found = headMetas(text, name);
  if (found.includes(content)) return null;
  if (found.length > 0) return 'the tag has another content';
  return 'the head has no such tag before its first template, noscript or other element of the body, in the first 256 KiB';
}
