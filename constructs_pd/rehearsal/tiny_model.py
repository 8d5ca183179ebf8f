"""Makes a tiny chat model with random weights on disk: `python tiny_model.py FOLDER POSITIONS KV_HEADS`.

Run by the real engine's interpreter; needs torch, tokenizers and transformers, and no network.
"""

import sys
from pathlib import Path
from typing import Final

TEXTS: Final = (
    "Hello world, this is a tiny model for rehearsals.",
    "The quick brown fox jumps over the lazy dog.",
    "user assistant system You are a helpful assistant.",
    "What is the capital of France? Paris.",
)
SPECIAL: Final = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
CHAT_TEMPLATE: Final = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
VOCABULARY: Final = 512
HEAD_SIZE: Final = 32


def make_tokenizer(folder: Path) -> None:
    """Write a byte-level tokenizer that knows a few words."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=list(SPECIAL), initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
    )
    tokenizer.train_from_iterator(TEXTS, trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token=SPECIAL[0], eos_token=SPECIAL[2])
    fast.chat_template = CHAT_TEMPLATE
    fast.save_pretrained(folder)


def make_weights(folder: Path, positions: int, kv_heads: int) -> None:
    """Write a two-layer Qwen2 whose heads can be divided among as many GPUs as it has KV heads."""
    import torch
    from transformers import Qwen2Config, Qwen2ForCausalLM

    heads = 2 * kv_heads
    config = Qwen2Config(
        vocab_size=VOCABULARY,
        hidden_size=HEAD_SIZE * heads,
        intermediate_size=2 * HEAD_SIZE * heads,
        num_hidden_layers=2,
        num_attention_heads=heads,
        num_key_value_heads=kv_heads,
        max_position_embeddings=positions,
        tie_word_embeddings=False,
        # Wide, so that what it says depends on the prompt.
        initializer_range=0.3,
        eos_token_id=SPECIAL.index("<|im_end|>"),
        pad_token_id=SPECIAL.index("<|endoftext|>"),
        bos_token_id=None,
    )
    torch.manual_seed(0)
    Qwen2ForCausalLM(config).to(torch.bfloat16).save_pretrained(folder)


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    make_tokenizer(target)
    make_weights(target, *(int(number) for number in sys.argv[2:4]))
