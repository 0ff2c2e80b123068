import { loadTexts } from '../../../../schemas/banner/load-texts.js';
import { type Api, allPages, answerOf, dataOf } from '../../api/client.js';
import { useApi } from '../../app-context.js';
import { useMessages } from '../../i18n/locale.js';
import { Confirm } from '../../ui/confirm.js';
import { useAction } from '../../ui/use-action.js';
import { categoriesToAdd, withDefaults } from '../banner/default-texts.js';

const LANGUAGE = 'tr';

/** A button that makes the drafts of a site in Türkiye: three documents, and the banner in Turkish. */
export function KvkkPreset({ siteId }: { readonly siteId: string }) {
  const { documents } = useMessages();
  const api = useApi();
  const make = useAction(async () => {
    await addDocuments(api, siteId);
    await addTurkish(api, siteId);
  });
  return (
    <Confirm label={documents.kvkk} isDanger={false} action={() => make(undefined)}>
      <p>{documents.kvkkText}</p>
      <p>{documents.kvkkActs}</p>
      <p>
        <a href="/docs/law.md" target="_blank" rel="noreferrer">
          {documents.kvkkDuties}
        </a>
      </p>
    </Confirm>
  );
}

/** Adds the documents that the site does not have yet, each with a draft. */
async function addDocuments(api: Api, siteId: string): Promise<void> {
  const path = { site_id: siteId };
  const known = await allPages((cursor) =>
    answerOf(api.GET('/api/v1/sites/{site_id}/documents', { params: { path, query: { limit: 100, cursor } } })),
  );
  const { KVKK_TEXTS } = await import('./policy-templates/kvkk.js');
  for (const { slug, kind, title, content } of KVKK_TEXTS) {
    if (known.some((one) => one.slug === slug)) continue;
    const body = { slug, kind, requires_approval_token: false };
    const { id } = await dataOf(api.POST('/api/v1/sites/{site_id}/documents', { params: { path }, body }));
    const draft = { language: LANGUAGE, title, media_type: 'text/markdown', content };
    await dataOf(
      api.POST('/api/v1/sites/{site_id}/documents/{document_id}/versions', {
        params: { path: { ...path, document_id: id } },
        body: draft,
      }),
    );
  }
}

/** Adds Turkish and the usual categories to the draft of the banner, and fills in the texts that are empty. */
async function addTurkish(api: Api, siteId: string): Promise<void> {
  const params = { path: { site_id: siteId } };
  const now = await dataOf(api.GET('/api/v1/sites/{site_id}/configuration', { params }));
  const texts = await loadTexts(LANGUAGE);
  if (texts === undefined) return;
  const { changed_at, problems, has_changes, in_force, cookies, ...content } = now;
  const body = {
    ...content,
    ...withDefaults(now, new Map([[LANGUAGE, texts]]), categoriesToAdd(now)),
    languages: [...new Set([...now.languages, LANGUAGE])],
    default_language: now.default_language ?? LANGUAGE,
    cookies: cookies.map(({ id, ...cookie }) => cookie),
  };
  await dataOf(api.PUT('/api/v1/sites/{site_id}/configuration', { params, body }));
}
