"""Tiny models, built in code with random weights: real formats and real loaders, without a download."""

import string
from collections.abc import Sequence
from pathlib import Path

WORDS = ["the", "refund", "period", "is", "days", "two", "cats", "sleep", "##s", "##ing"]


def bert_tokenizer():
    """A WordPiece tokenizer of single letters and a few words."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
    pieces += [*string.ascii_lowercase, *(f"##{letter}" for letter in string.ascii_lowercase), *string.digits, "."]
    vocabulary = {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        unk_token="[UNK]",
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
        model_max_length=64,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )


def bert_model(layers: int = 2, width: int = 32, heads: int = 4, seed: int = 0):
    """A BERT encoder whose outputs are not all equal."""
    import torch
    from transformers import BertConfig, BertModel

    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=120,
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=2 * width,
        max_position_embeddings=64,
        initializer_range=0.5,
    )
    return BertModel(config, add_pooling_layer=False).eval()


def sentence_model_folder(folder: Path, window: int = 16) -> Path:
    """Saves a sentence-transformers model (BERT, mean pooling, not normalised) the way its library does."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    plain = folder / "plain"
    bert_model().save_pretrained(plain)
    bert_tokenizer().save_pretrained(plain)
    words = Transformer(str(plain), max_seq_length=window)
    whole = folder / "tiny-sentences"
    SentenceTransformer(modules=[words, Pooling(32, "mean")], device="cpu").save_pretrained(str(whole))
    return whole


def cross_encoder_folder(folder: Path, labels: Sequence[str], seed: int = 0) -> Path:
    """Saves a cross-encoder (BERT, one output for each label) the way transformers does."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=120,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=64,
        initializer_range=0.5,
        id2label=dict(enumerate(labels)),
        label2id={label: number for number, label in enumerate(labels)},
    )
    BertForSequenceClassification(config).eval().save_pretrained(folder)
    bert_tokenizer().save_pretrained(folder)
    return folder
