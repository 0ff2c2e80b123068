import { describe, expect, it } from 'vitest';
import { headMetas } from '../../../src/tenancy/domains/head-metas.js';
import { isPublicSuffix } from '../../../src/tenancy/domains/public-suffix.js';

const NAME = 'consent-ledger-verification';
const TAG = `<meta name="${NAME}" content="t">`;
const found = (html: string) => headMetas(html, NAME);

describe('the tag that proves a domain', () => {
  it.each([
    `<!doctype html><html><head>${TAG}</head><body></body></html>`,
    `\u00ef\u00bb\u00bf<!DOCTYPE html>\n<!-- a --><html lang=en><head>\n<title>A <b> shop</title>${TAG}`,
    `<head><META Content=t NAME='${NAME}' / ></head>`,
    `<head><meta name=${NAME} content=t></head>`,
    `<title>no head tag</title><link rel=icon href=a><style>a > b {}</style>${TAG}`,
    `<head><script>if (a</b/.c) "</scripts>"</script><script src="a>b"></script >${TAG}`,
    `<head><!-->${TAG}`,
    `<head><!--->${TAG}`,
    `<head><!-- a --!>${TAG}`,
    `<head><?php a ?>${TAG}`,
    `<head><meta name="description" content="a > b">${TAG}`,
    `<head></x a=">">${TAG}`,
  ])('is found in %j', (html) => expect(found(html)).toEqual(['t']));

  it.each([
    `<body>${TAG}`,
    `<html><head></head><body><p>A comment: ${TAG}</p></body>`,
    `<head></head>${TAG}`,
    `<head><!-- ${TAG} --></head>`,
    `<head><!-- a -- > ${TAG} --></head>`,
    `<head><!--a--!b>${TAG}--></head>`,
    `<head><!${TAG.slice(0, -1)}`,
    `<head><title>${TAG}</title></head>`,
    `<head><title></titles>${TAG}</title></head>`,
    `<head><title/>${TAG}</title></head>`,
    `<head><style>${TAG}</style></head>`,
    `<head><script>"${TAG}"</script></head>`,
    `<head><script/>${TAG}</script></head>`,
    // The first end tag does not end this script.
    `<head><script><!--<script></script>${TAG}--></script></head>`,
    `<head><template>${TAG}</template></head>`,
    `<head><template></template>${TAG}</head>`,
    `<head><noscript>${TAG}</noscript></head>`,
    `<head><textarea>${TAG}</textarea></head>`,
    `<head><svg><title>${TAG}</title></svg></head>`,
    `<head>text ${TAG}</head>`,
    `<head>< ${TAG}</head>`,
    `<head><br>${TAG}</head>`,
    `<head></br>${TAG}</head>`,
    `<head><meta name="description" content="${TAG.replaceAll('"', "'")}"></head>`,
    `<head><meta name='description' content='<meta name="${NAME}" content="t">'></head>`,
    `<head><meta name=a content="x" name="${NAME}" content="t"></head>`,
    `<head><meta name="${NAME}" content2="t"></head>`,
    `<head><meta name="${NAME} " content="t"></head>`,
    `<head><meta property="${NAME}" content="t"></head>`,
    `<head><meta name="${NAME}" content="t"`,
    `<head><meta name="${NAME}" content="t></head>`,
    `<head><title>\u001b$B</title>${TAG}`,
    `<\0h\0e\0a\0d\0>${TAG}`,
    `<head><link href="a>${TAG}">`,
    `<head></title a=">${TAG}">`,
    '',
  ])('is not found in %j', (html) => expect(found(html)).toEqual([]));

  it('is compared as it is written, with the first of two attributes', () => {
    expect(found(`<meta name="${NAME}" content="a&#116;" content="t">`)).toEqual(['a&#116;']);
    expect(found(`${TAG}<meta content="u" name="${NAME}">`)).toEqual(['t', 'u']);
  });

  it('is looked for in linear time', () => {
    for (const part of ['<', '<!--', '<a ', '<meta a="', '<title></', '</', '<script></script>', '<meta>'])
      expect(found(`<head><title>${part.repeat(200_000 / part.length)}`)).toEqual([]);
  });
});

describe('a public suffix', () => {
  it.each(['co.uk', 'com.tr', 'github.io', 'blogspot.com', 's3.amazonaws.com', 'xn--55qx5d.cn', 'foo.ck', 'c.kobe.jp'])(
    'is %s',
    (domain) => expect(isPublicSuffix(domain)).toBe(true),
  );
  it.each(['shop.example', 'shop.co.uk', 'alice.github.io', 'www.ck', 'city.kobe.jp', 'xn--e1afmkfd.xn--p1ai'])(
    'is not %s',
    (domain) => expect(isPublicSuffix(domain)).toBe(false),
  );
});
