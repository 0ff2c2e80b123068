import { useState } from 'react';
import { answerOf } from '../../api/client.js';
import type { ConfigurationDraft, DraftCookie } from '../../api/types.js';
import { useApi, useMay } from '../../app-context.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { Button } from '../../ui/button.js';
import { Confirm } from '../../ui/confirm.js';
import { Dialog } from '../../ui/dialog.js';
import { Section } from '../../ui/page.js';
import { Table } from '../../ui/table.js';
import { CookieForm } from './cookie-form.js';
import { lifetimeOf } from './lifetime.js';
import { editorId } from './sections.js';
import { useDraftChange } from './use-draft.js';

interface CookieSectionProps {
  readonly siteId: string;
  readonly draft: ConfigurationDraft;
}

/** The cookies that the banner lists. */
export function CookieSection({ siteId, draft }: CookieSectionProps) {
  const { banner, common } = useMessages();
  const { quantity } = useFormats();
  const api = useApi();
  const mayChange = useMay('changeSites');
  const [edited, setEdited] = useState<DraftCookie | 'new' | null>(null);
  const language = draft.default_language ?? draft.languages[0] ?? 'en';
  const categoryOf = (key: string) => draft.categories.find((category) => category.key === key)?.title[language] ?? key;
  const remove = useDraftChange(siteId, (id: string, revision) =>
    answerOf(
      api.DELETE('/api/v1/sites/{site_id}/cookies/{cookie_id}', {
        params: { path: { site_id: siteId, cookie_id: id }, query: { revision } },
      }),
    ),
  );
  const worded = (seconds: number) => {
    const { count, unit } = lifetimeOf(seconds);
    return quantity(count, unit);
  };
  const close = () => setEdited(null);
  return (
    <Section
      title={banner.cookies}
      actions={
        mayChange && draft.categories.length > 0 ? (
          <Button onPress={() => setEdited('new')}>{banner.addCookie}</Button>
        ) : null
      }
    >
      {draft.cookies.length === 0 ? (
        <p>{draft.categories.length === 0 ? banner.cookiesNeedCategory : banner.cookiesEmpty}</p>
      ) : (
        <Table
          label={banner.cookies}
          items={draft.cookies}
          keyOf={({ id }) => id}
          columns={[
            { label: common.name, cell: ({ name }) => <code>{name}</code> },
            { label: banner.provider, cell: ({ provider }) => provider },
            { label: banner.category, cell: ({ category }) => categoryOf(category) },
            {
              label: banner.duration,
              phone: 'labelled',
              cell: ({ duration_seconds: seconds }) => (seconds === null ? banner.untilClosed : worded(seconds)),
            },
            { label: banner.purpose, phone: 'short', cell: ({ purpose }) => purpose[language] ?? '' },
            ...(mayChange
              ? [
                  {
                    label: common.actions,
                    cell: (cookie: DraftCookie) => (
                      <div className="actions">
                        <Button
                          id={editorId('cookies', cookie.name)}
                          onPress={() => setEdited(cookie)}
                          aria-label={`${common.edit}: ${cookie.name}`}
                        >
                          {common.edit}
                        </Button>
                        <Confirm
                          label={common.remove}
                          about={cookie.name}
                          look="danger"
                          action={() => remove(cookie.id)}
                        >
                          <p>{banner.removeCookie}</p>
                        </Confirm>
                      </div>
                    ),
                  },
                ]
              : []),
          ]}
        />
      )}
      <Dialog
        title={edited === 'new' ? banner.addCookie : banner.cookie}
        isOpen={edited !== null}
        onClose={close}
        staysOpen
      >
        {edited === null ? null : (
          <CookieForm siteId={siteId} draft={draft} cookie={edited === 'new' ? null : edited} onClose={close} />
        )}
      </Dialog>
    </Section>
  );
}
