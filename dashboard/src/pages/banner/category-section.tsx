import { useState } from 'react';
import { answerOf } from '../../api/client.js';
import type { Category, ConfigurationDraft } from '../../api/types.js';
import { useApi, useMay } from '../../app-context.js';
import { useMessages } from '../../i18n/locale.js';
import { Badge } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { Confirm } from '../../ui/confirm.js';
import { Dialog } from '../../ui/dialog.js';
import { Section } from '../../ui/page.js';
import { Table } from '../../ui/table.js';
import { CategoryForm } from './category-form.js';
import { defaultsIn } from './default-texts.js';
import { editorId } from './sections.js';
import type { Defaults } from './use-defaults.js';
import { useDraftChange } from './use-draft.js';

interface CategorySectionProps {
  readonly siteId: string;
  readonly draft: ConfigurationDraft;
  readonly defaults: Defaults | undefined;
}

/** The categories that a visitor decides on. */
export function CategorySection({ siteId, draft, defaults }: CategorySectionProps) {
  const { banner, common } = useMessages();
  const api = useApi();
  const mayChange = useMay('changeSites');
  const [edited, setEdited] = useState<Category | 'new' | null>(null);
  const language = draft.default_language ?? draft.languages[0] ?? 'en';
  const remove = useDraftChange(siteId, (key: string, revision) =>
    answerOf(
      api.DELETE('/api/v1/sites/{site_id}/categories/{category_key}', {
        params: { path: { site_id: siteId, category_key: key }, query: { revision } },
      }),
    ),
  );
  const close = () => setEdited(null);
  const known = defaults?.texts.get(language);
  const standard = known === undefined ? [] : defaultsIn(draft, language, known);
  return (
    <Section
      title={banner.categories}
      actions={
        mayChange && draft.languages.length > 0 ? (
          <Button onPress={() => setEdited('new')}>{banner.addCategory}</Button>
        ) : null
      }
    >
      {draft.categories.length === 0 ? (
        <p>{draft.languages.length === 0 ? banner.firstSettings : banner.categoriesEmpty}</p>
      ) : (
        <Table
          label={banner.categories}
          items={draft.categories}
          keyOf={({ key }) => key}
          columns={[
            { label: common.name, cell: ({ key, title }) => title[language] ?? key },
            { label: banner.key, cell: ({ key }) => <code>{key}</code> },
            {
              label: banner.purpose,
              cell: ({ key, purpose }) => {
                const text = purpose[language] ?? '';
                return standard.includes(`${key}.purpose`) ? `${text} (${banner.defaults.isDefault})` : text;
              },
            },
            { label: banner.basis, phone: 'labelled', cell: ({ lawful_basis: basis }) => banner.bases[basis] },
            {
              label: common.state,
              phone: 'top',
              cell: ({ required }) => <Badge kind="neutral">{required ? banner.required : banner.optional}</Badge>,
            },
            ...(mayChange
              ? [
                  {
                    label: common.actions,
                    cell: (category: Category) => (
                      <div className="actions">
                        <Button
                          id={editorId('categories', category.key)}
                          onPress={() => setEdited(category)}
                          aria-label={`${common.edit}: ${category.key}`}
                        >
                          {common.edit}
                        </Button>
                        <Confirm
                          label={common.remove}
                          about={category.key}
                          look="danger"
                          action={() => remove(category.key)}
                        >
                          <p>{banner.removeCategory}</p>
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
        title={edited === 'new' ? banner.addCategory : banner.category}
        isOpen={edited !== null}
        onClose={close}
        staysOpen
      >
        {edited === null ? null : (
          <CategoryForm siteId={siteId} draft={draft} category={edited === 'new' ? null : edited} onClose={close} />
        )}
      </Dialog>
    </Section>
  );
}
