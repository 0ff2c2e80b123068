import { useQuery } from '@tanstack/react-query';
import { Fragment, useDeferredValue, useState } from 'react';
import { dataOf } from '../../api/client.js';
import type { DocumentVersion } from '../../api/types.js';
import { useApi } from '../../app-context.js';
import { useFormats, useLanguage, useMessages } from '../../i18n/locale.js';
import { ActionForm, type Values } from '../../ui/action-form.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { SelectInput, TextInput } from '../../ui/fields.js';
import { useLanguageOptions } from '../../ui/language-boxes.js';
import { Loaded } from '../../ui/loaded.js';
import { useAction } from '../../ui/use-action.js';
import { lineDifference } from './line-difference.js';
import { loadTemplate, TEMPLATE_LANGUAGES } from './policy-templates/load-template.js';
import { isText, useReadVersion } from './read-version.js';
import { Lines } from './version-difference.js';

const MEDIA_TYPES = ['text/markdown', 'text/plain', 'text/html'] as const;

/** What a draft begins with. */
interface Beginning {
  readonly language: string;
  readonly title: string;
  readonly mediaType: string;
  readonly content: string;
  /** Whether it is a version in force, with which the text is compared. */
  readonly isInForce: boolean;
}

interface WriteDraftProps {
  readonly siteId: string;
  readonly documentId: string;
  readonly versions: readonly DocumentVersion[];
  /** Is told the id of the draft. */
  readonly onWritten: (id: string) => void;
}

/** Writes a new draft, which begins with the version in force, if there is one that is a text. */
export function WriteDraft({ siteId, documentId, versions, onWritten }: WriteDraftProps) {
  const { documents } = useMessages();
  const { language } = useLanguage();
  const { languageName, number } = useFormats();
  const api = useApi();
  const readVersion = useReadVersion(siteId);
  const inForce = versions.filter((version) => version.state === 'active' && isText(version));
  const first = inForce.find((version) => version.language === language) ?? inForce[0];
  const [isOpen, setOpen] = useState(false);
  const [from, setFrom] = useState('');
  const beginning = useQuery({
    enabled: isOpen,
    queryKey: ['beginning', documentId, from],
    queryFn: async (): Promise<Beginning> => {
      const version = inForce.find(({ id }) => id === from);
      if (version !== undefined) {
        const content = await (await readVersion(version)).text();
        return {
          language: version.language,
          title: version.title,
          mediaType: version.media_type,
          content,
          isInForce: true,
        };
      }
      const found = TEMPLATE_LANGUAGES.find((one) => one === from);
      const template = found === undefined ? undefined : await loadTemplate(found);
      const empty = { title: '', mediaType: MEDIA_TYPES[0], content: '' };
      return { ...empty, ...template, language: found ?? language, isInForce: false };
    },
  });
  const create = useAction((values: Values) =>
    dataOf(
      api.POST('/api/v1/sites/{site_id}/documents/{document_id}/versions', {
        params: { path: { site_id: siteId, document_id: documentId } },
        body: { language: values.text('other_language').trim() || values.text('language'), ...draftOf(values) },
      }),
    ),
  );
  const close = () => setOpen(false);
  return (
    <>
      <Button
        look="primary"
        onPress={() => {
          setFrom(first?.id ?? '');
          setOpen(true);
        }}
      >
        {documents.addVersion}
      </Button>
      <Dialog title={documents.addVersion} isOpen={isOpen} onClose={close} staysOpen>
        <ActionForm
          submit={documents.saveDraft}
          onCancel={close}
          action={async (values) => {
            onWritten((await create(values)).id);
            close();
          }}
        >
          <SelectInput
            name="template"
            label={documents.template}
            hint={documents.templateHint}
            value={from}
            onChange={setFrom}
            options={[
              ...inForce.map(({ id, language: value, number: of }) => ({
                value: id,
                label: documents.fromVersion(languageName(value), number(of ?? 0)),
              })),
              { value: '', label: documents.noTemplate },
              ...TEMPLATE_LANGUAGES.map((value) => ({ value, label: documents.fromTemplate(languageName(value)) })),
            ]}
          />
          <Loaded query={beginning}>
            {(begun) => (
              <Fragment key={from}>
                <LanguageInput defaultValue={begun.language} known={versions.map((version) => version.language)} />
                <DraftFields {...begun} />
              </Fragment>
            )}
          </Loaded>
        </ActionForm>
      </Dialog>
    </>
  );
}

interface EditedDraftProps {
  readonly siteId: string;
  readonly version: DocumentVersion;
}

/** The fields of a draft, once its text is there. */
export function EditedDraft({ siteId, version }: EditedDraftProps) {
  const readVersion = useReadVersion(siteId);
  const query = useQuery({
    queryKey: ['edited', version.id, version.content_sha256],
    queryFn: async () => (await readVersion(version)).text(),
  });
  return (
    <Loaded query={query}>
      {(content) => (
        <DraftFields
          language={version.language}
          title={version.title}
          mediaType={version.media_type}
          content={content}
        />
      )}
    </Loaded>
  );
}

interface LanguageInputProps {
  readonly defaultValue: string;
  /** Languages that the document has. */
  readonly known: readonly string[];
}

function LanguageInput({ defaultValue, known }: LanguageInputProps) {
  const { common, documents, banner } = useMessages();
  const options = useLanguageOptions([...known, defaultValue]);
  return (
    <>
      <SelectInput name="language" label={common.language} defaultValue={defaultValue} options={options} />
      <details>
        <summary>{banner.otherLanguages}</summary>
        <TextInput name="other_language" label={documents.languageTag} hint={documents.languageHint} />
      </details>
    </>
  );
}

interface DraftFieldsProps extends Partial<Omit<Beginning, 'language'>> {
  readonly language: string;
}

function DraftFields({
  language,
  title = '',
  mediaType = MEDIA_TYPES[0],
  content = '',
  isInForce = false,
}: DraftFieldsProps) {
  const { documents } = useMessages();
  const [written, setWritten] = useState(content);
  const compared = useDeferredValue(written);
  return (
    <>
      <TextInput name="title" label={documents.versionTitle} defaultValue={title} isRequired />
      <SelectInput
        name="media_type"
        label={documents.mediaType}
        defaultValue={mediaType}
        options={MEDIA_TYPES.map((value) => ({ value, label: documents.mediaTypes[value] }))}
      />
      <TextInput
        name="content"
        label={documents.content}
        defaultValue={content}
        onChange={setWritten}
        rows={12}
        isRequired
      />
      {isInForce ? (
        <details>
          <summary>{documents.differenceInForce}</summary>
          {compared === content ? (
            <p>{documents.same}</p>
          ) : (
            <Lines lines={lineDifference(content, compared)} language={language} />
          )}
        </details>
      ) : null}
    </>
  );
}

/** The members of a version that its form has. */
export function draftOf(values: Values) {
  // A form sends line ends as CR LF; texts of documents have LF.
  const content = values.text('content').replaceAll('\r\n', '\n');
  return { title: values.text('title'), media_type: values.text('media_type'), content };
}
